import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryStore } from '@hexagent/agent-core/testing';
import { expect, test } from 'vitest';
import { behavesUnderSignals, composed, eventsOf } from '../test/behaviour.ts';
import { call, playedModel, text } from '../test/played-model.ts';
import { temporaryFolder } from '../test/temporary-folder.ts';
import { revisionOf } from './adapters/text-file.ts';
import { codeAssistant } from './code-assistant.ts';
import { codeAssistantTools } from './tools/code-assistant-tools.ts';

const OLD = revisionOf('old\n');

behavesUnderSignals(codeAssistant);

test('reads need no approval; writes, programs and patches do', () => {
  const asks = Object.fromEntries(
    codeAssistantTools.map(({ name, definition }) => [name, definition.requiresApproval]),
  );
  expect(asks).toEqual({
    'workspace.read': false,
    'workspace.search': false,
    'git.status': false,
    'git.diff': false,
    'workspace.write': true,
    'shell.command': true,
    'git.apply': true,
  });
});

test('an interrupted call is repeated only where that is safe', () => {
  const asked = codeAssistantTools.filter(({ definition }) => definition.resume === 'ask');
  expect(asked.map(({ name }) => name)).toEqual(['shell.command']);
});

test('asks before it writes, and goes on in another application over the same store', async () => {
  const root = temporaryFolder({ 'a.txt': 'old\n' });
  const store = memoryStore();
  const write = { path: 'a.txt', content: 'new\n', replaces: OLD };
  const first = await composed(codeAssistant, {
    root,
    store,
    model: playedModel([
      () => call('workspace.read', { path: 'a.txt' }),
      () => call('workspace.write', write),
    ]),
  });
  const run = await first.app.start(codeAssistant, 'Renew a.txt.');
  const result = await run.result;
  expect(result.kind).toBe('paused');
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('old\n');
  await first.app.close();

  const second = await composed(codeAssistant, {
    root,
    store,
    model: playedModel([() => [text('Done.')]]),
  });
  const caller = second.app.local('local');
  const { items: waits } = await second.app.runs.waits({ status: 'pending' }, caller);
  expect(waits.map(({ prompt }) => prompt.arguments)).toEqual([write]);
  for (const { id } of waits) await second.app.runs.resolve(id, { decision: 'approve' }, caller);
  const resumed = await second.app.attach(codeAssistant, run.runId);
  expect(await resumed.result).toMatchObject({
    kind: 'completed',
    text: 'Done.',
    toolCalls: ['workspace.read', 'workspace.write'],
  });
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new\n');
  const results = (await eventsOf(resumed)).filter(
    ({ event }) => event.type === 'tool-call-result',
  );
  expect(results).toHaveLength(2);
});

test('a declined write is something that the model reads', async () => {
  const model = playedModel([
    () => call('workspace.write', { path: 'b.txt', content: 'x' }),
    () => [text('I leave it.')],
  ]);
  const { app } = await composed(codeAssistant, { model });
  const { runId } = await (await app.start(codeAssistant, 'Write b.txt.')).result;
  const caller = app.local('local');
  const { items } = await app.runs.waits({ runId, status: 'pending' }, caller);
  for (const { id } of items) {
    await app.runs.resolve(id, { decision: 'reject', comment: 'not this file' }, caller);
  }
  const result = await (await app.attach(codeAssistant, runId)).result;
  expect(result).toMatchObject({ kind: 'completed', text: 'I leave it.' });
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('not this file');
});

test('a path outside is an error that the model reads', async () => {
  const model = playedModel([
    () => call('workspace.read', { path: '../secret.txt' }),
    () => [text('I may not.')],
  ]);
  const { app } = await composed(codeAssistant, { model });
  expect((await app.run(codeAssistant, 'Read it.')).kind).toBe('completed');
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('Give a path inside the workspace');
});
