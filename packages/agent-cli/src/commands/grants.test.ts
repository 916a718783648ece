import { type Grant, waitIdOf } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { commandLine } from '../../test/command-line.ts';

const grant: Grant = {
  id: '0123456789abcdef.0123456789abcdef.0123456789abcdef',
  agent: 'assistant',
  tool: 'workspace.write',
  toolIdentity: 'workspace.write@1',
  what: 'tool',
  within: 'run',
  place: 'r1',
  userId: 'alice',
  grantedBy: 'operator',
  grantedAt: 0,
  waitId: waitIdOf('r1.1.0.w1'),
};

test.each([[['grants']], [['grants', 'list']]])('%j lists what is remembered', async (argv) => {
  const narrow: Grant = { ...grant, what: 'arguments', within: 'user', place: 'alice' };
  const line = await commandLine(argv, { app: { grants: [grant, narrow] } });
  expect(await line.done).toBe(0);
  const rest = 'operator\t1970-01-01T00:00:00Z';
  expect(line.stdout().trimEnd().split('\n')).toEqual([
    `${grant.id}\tassistant\tworkspace.write\tevery call\trun r1\t${rest}`,
    `${grant.id}\tassistant\tworkspace.write\tone set of arguments\tuser alice\t${rest}`,
  ]);
  expect(line.asked).toEqual([{ door: 'grants', with: [{ limit: 50 }] }]);
  expect(line.configs[0]?.start).toBe(false);
});

test('lists page by page, and as records', async () => {
  const line = await commandLine(['grants', 'list', '--limit', '1', '--after', 'c', '--json'], {
    app: { grants: [grant] },
  });
  expect(await line.done).toBe(0);
  expect(line.asked).toEqual([{ door: 'grants', with: [{ limit: 1, after: 'c' }] }]);
  expect(line.records()).toEqual([{ type: 'grant', ...grant }]);
});

test('says so when nothing is remembered', async () => {
  const line = await commandLine(['grants'], { terminal: true });
  expect(await line.done).toBe(0);
  expect(line.stdout() + line.stderr()).toContain('No approval is remembered.');
});

test('revokes by id, and says what it means', async () => {
  const line = await commandLine(['grants', 'revoke', grant.id], { app: { grants: [grant] } });
  expect(await line.done).toBe(0);
  expect(line.asked).toEqual([{ door: 'revokeGrant', with: [grant.id] }]);
  expect(line.stderr()).toContain('the next call asks again');
});

test('an id that there is not is an error with its mend', async () => {
  const line = await commandLine(['grants', 'revoke', 'nothing'], { app: { grants: [grant] } });
  expect(await line.done).toBe(1);
  expect(line.stderr()).toContain('GRANT_NOT_FOUND');
});
