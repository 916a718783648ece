import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  behavesUnderSignals,
  composed,
  eventsOf,
} from '@hexagent/example-code-assistant/test/behaviour';
import { call, playedModel, text } from '@hexagent/example-code-assistant/test/played-model';
import { expect, test } from 'vitest';
import { customCodeAssistant } from './custom-code-assistant.ts';

behavesUnderSignals(customCodeAssistant);

test('runs its tools, asks in place before it writes, and writes once', async () => {
  const write = { path: 'b.txt', content: 'new\n' };
  const model = playedModel([
    () => [text('I read. '), ...call('workspace.read', { path: 'a.txt' })],
    () => call('workspace.write', write),
    () => [text('Done.')],
  ]);
  const { app, root } = await composed(customCodeAssistant, { model });
  const caller = app.local('local');
  const run = await app.start(customCodeAssistant, 'Write b.txt.');
  for await (const { event } of run.events()) {
    if (event.type !== 'wait-opened') continue;
    expect(event.wait.prompt.arguments).toEqual(write);
    await app.runs.resolve(event.wait.id, { decision: 'approve' }, caller);
  }
  expect(await run.result).toMatchObject({
    kind: 'completed',
    text: 'Done.',
    toolCalls: ['workspace.read', 'workspace.write'],
  });
  expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('new\n');
  const results = (await eventsOf(run)).filter(({ event }) => event.type === 'tool-call-result');
  expect(results).toHaveLength(2);
  const kinds = (await app.runs.evidence(run.runId, {}, caller)).map(({ kind }) => kind);
  expect(kinds).toContain('approval');
});

test('tells the model of each call what came of it, also when it was declined or is unreadable', async () => {
  const model = playedModel([
    () => call('workspace.write', { path: 'b.txt', content: 'x' }),
    () => [
      { type: 'tool-call-start', index: 0, name: 'git.status' },
      { type: 'tool-call-delta', index: 0, delta: '{"trunc' },
      { type: 'tool-call-delta', index: 9, delta: 'of no call' },
    ],
    () => call('no.such.tool', {}),
    () => [text('I stop.')],
  ]);
  const { app } = await composed(customCodeAssistant, { model });
  const run = await app.start(customCodeAssistant, 'Write b.txt.');
  for await (const { event } of run.events()) {
    if (event.type !== 'wait-opened') continue;
    await app.runs.resolve(event.wait.id, { decision: 'reject' }, app.local('local'));
  }
  expect((await run.result).kind).toBe('completed');
  const last = model.requests.at(-1)?.messages ?? [];
  const asked = last.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-call'));
  const given = last.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-result'));
  expect(given.map(({ outcome }) => outcome)).toEqual(['denied', 'error', 'error']);
  expect(given.map(({ callId }) => callId)).toEqual(asked.map(({ callId }) => callId));
  expect(JSON.stringify(given)).toContain('did not run');
});

test('what is said while the model answers is heard before the end', async () => {
  const model = playedModel([
    async function* () {
      yield text('First answer.');
      await app.runs.signal(
        (await started).runId,
        { kind: 'user-message', payload: { text: 'and more?' } },
        app.local('local'),
      );
    },
    () => [text('Second answer.')],
  ]);
  const { app } = await composed(customCodeAssistant, { model });
  const started = app.start(customCodeAssistant, 'Answer.');
  expect(await (await started).result).toMatchObject({ text: 'Second answer.' });
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('and more?');
});

test('gives up on a model that never answers', async () => {
  const reading = (): ReturnType<typeof call> => call('git.status', {});
  const { app } = await composed(customCodeAssistant, {
    model: playedModel(Array.from({ length: 24 }, () => reading)),
  });
  const result = await app.run(customCodeAssistant, 'Look.');
  expect(result).toMatchObject({ kind: 'failed', error: { code: 'MAX_STEPS_EXCEEDED' } });
});
