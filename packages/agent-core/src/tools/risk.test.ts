import { expect, test } from 'vitest';
import { type Effects, effects, IDEMPOTENCIES } from './effects.ts';
import { isApprovalCandidate, isReadOnly, requiresApproval, resumeOf, riskOf } from './risk.ts';

const none: Effects = { access: 'none', externality: 'local', destructive: false, network: false };

test('derives the axes and the approval of each preset', () => {
  const table = [
    none,
    effects.readOnly(),
    effects.writeState(),
    effects.externalSideEffect(),
    effects.destructiveAction(),
  ].map((one) => [riskOf(one).join(' '), isApprovalCandidate(riskOf(one))]);
  expect(table).toEqual([
    ['', false],
    ['read', false],
    ['write side-effect', true],
    ['read write side-effect network', true],
    ['write side-effect destructive network', true],
  ]);
});

test('asks for what destroys or leaves, and not for what is only unknown', () => {
  const candidate = (given: Partial<Effects>): boolean =>
    isApprovalCandidate(riskOf({ ...none, ...given }));
  expect(candidate({ externality: 'unknown' })).toBe(false);
  expect(candidate({ externality: 'external' })).toBe(true);
  expect(candidate({ externality: 'unknown', network: true })).toBe(true);
  expect(candidate({ access: 'read', network: true })).toBe(false);
  expect(candidate({ destructive: true })).toBe(true);
  expect(candidate({ destructive: true, network: true })).toBe(true);
});

test('lets what the author asks for win over the risk', () => {
  const risky = riskOf(effects.destructiveAction());
  expect([requiresApproval('not-required', risky), requiresApproval('derived', risky)]).toEqual([
    false,
    true,
  ]);
  expect([requiresApproval('required', []), requiresApproval('derived', [])]).toEqual([
    true,
    false,
  ]);
});

test('takes a tool for read-only when nothing stays behind', () => {
  expect(isReadOnly(effects.readOnly())).toBe(true);
  expect(isReadOnly({ ...none, access: 'read', externality: 'external', network: true })).toBe(
    true,
  );
  expect(isReadOnly(none)).toBe(true);
  expect(isReadOnly({ ...none, externality: 'external' })).toBe(false);
  expect(isReadOnly({ ...none, destructive: true })).toBe(false);
  expect(isReadOnly(effects.writeState())).toBe(false);
});

test('decides what a new owner does by idempotency, effects and reconcile', () => {
  const row = (given: Effects, reconciles: boolean): readonly string[] =>
    IDEMPOTENCIES.map((idempotency) => resumeOf({ effects: given, idempotency, reconciles }));
  expect(row(effects.writeState(), false)).toEqual(['retry', 'retry', 'ask', 'ask']);
  expect(row(effects.writeState(), true)).toEqual(['retry', 'probe', 'probe', 'probe']);
  expect(row(effects.readOnly(), false)).toEqual(['retry', 'retry', 'ask', 'retry']);
});
