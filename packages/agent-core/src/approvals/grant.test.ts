import { expect, test } from 'vitest';
import { type GrantSubject, grantIdOf, grantPrefix, mayOwnGrant } from './grant.ts';

const subject: GrantSubject = {
  agent: 'clerk',
  tool: 'write',
  what: 'arguments',
  within: 'conversation',
  place: 'c1',
  userId: 'alice',
  inputDigest: 'd1',
};

test('one subject has one id, and every other subject another one', () => {
  const { userId: _user, ...ofNobody } = subject;
  const { inputDigest: _digest, ...anyInput } = subject;
  const others: readonly GrantSubject[] = [
    { ...subject, agent: 'other' },
    { ...subject, tool: 'other' },
    { ...anyInput, what: 'tool' },
    { ...subject, within: 'run' },
    { ...subject, place: 'c2' },
    { ...subject, userId: 'bob' },
    ofNobody,
    { ...subject, inputDigest: 'd2' },
    // Names that would run together if they were only joined.
    { ...subject, agent: 'clerk.write', tool: '' },
  ];
  const ids = [subject, ...others].map(grantIdOf);
  expect(new Set(ids).size).toBe(ids.length);
  expect(grantIdOf({ ...subject })).toBe(grantIdOf(subject));
});

test('ids of any names are short, fit into an address, begin with their owner and tell no name', () => {
  const place = '\ud800/ü .'.repeat(500);
  const id = grantIdOf({ ...subject, place, userId: 'a b/c' });
  expect(id).toMatch(/^[0-9a-f]{16}\.[0-9a-f]{16}\.[0-9a-f]{16}$/);
  expect(id.startsWith(grantPrefix('a b/c'))).toBe(true);
});

test('a caller may own what is its user’s or nobody’s; one without a user whatever is an id', () => {
  const { userId: _user, ...rest } = subject;
  const [own, free, foreign] = [subject, rest, { ...subject, userId: 'bob' }].map(grantIdOf);
  const alice = { tenantId: 'acme', userId: 'alice' };
  expect([own, free, foreign].map((id) => mayOwnGrant(String(id), alice))).toEqual([
    true,
    true,
    false,
  ]);
  expect(mayOwnGrant(String(foreign), { tenantId: 'acme' })).toBe(true);
  for (const id of ['', 'r1', `${own}.`, `${own}\n`, String(own).toUpperCase()])
    expect(mayOwnGrant(id, { tenantId: 'acme' })).toBe(false);
});
