import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { defineAgent, defineTool, effects } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  answer,
  appOf,
  calls,
  effect,
  eventsOf,
  evidenceOf,
  gate,
  logOf,
  read,
  resultsIn,
} from './harness.ts';

function fixture(extra: Parameters<typeof effect>[2] = {}) {
  const written: string[] = [];
  const write = effect(
    'write',
    ({ id }) => {
      written.push(id);
      return `wrote ${id}`;
    },
    { approval: 'required', ...extra },
  );
  const agent = defineAgent({
    name: 'writer',
    recovery: 'action-boundary',
    accepts: ['user-message'],
    tools: [write, read('look', ({ id }) => `saw ${id}`)],
  });
  return { agent, written };
}

describe('core-contract §12.20', () => {
  test('a low-risk call goes on without a question, a risky one pauses with all five decisions', async () => {
    const { agent, written } = fixture();
    const app = await appOf(agent, [calls(['look', 'a'], ['write', 'b'])], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'go');
    const result = await run.result;
    expect(result).toMatchObject({
      kind: 'paused',
      waits: [
        {
          kind: 'approval',
          allowed: ['approve', 'reject', 'modify', 'defer', 'cancel'],
          prompt: { tool: 'write', arguments: { id: 'b' } },
        },
      ],
    });
    expect(await app.runs.get(run.runId, app.local('me'))).toMatchObject({
      status: 'interrupted',
      transition: 'waiting-approval',
      reason: 'approval-required',
    });
    expect(written).toEqual([]);
    const log = await logOf(app, run.runId);
    expect(eventsOf(log, 'tool-call-result').map(({ toolName }) => toolName)).toEqual(['look']);
  });
});

describe('core-contract §12.41', () => {
  test('an approved call runs once, with evidence of the approval', async () => {
    const { agent, written } = fixture();
    const app = await appOf(agent, [calls(['write', 'a']), { text: 'Done.' }], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'go');
    await run.result;
    await answer(app, run.runId, { decision: 'approve', comment: 'fine' });
    const resumed = await app.attach(agent, run.runId);
    expect(await resumed.result).toMatchObject({ kind: 'completed', output: 'Done.' });
    expect(written).toEqual(['a']);
    const approvals = (await evidenceOf(app, run.runId)).filter(({ kind }) => kind === 'approval');
    expect(approvals.map(({ payload }) => payload)).toEqual([
      expect.objectContaining({ decision: 'approve', by: 'operator', comment: 'fine' }),
    ]);
  });

  test('a rejected call is a denied result that the model reads', async () => {
    const { agent, written } = fixture();
    const app = await appOf(agent, [calls(['write', 'a']), { text: 'I see.' }], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'go');
    await run.result;
    await answer(app, run.runId, { decision: 'reject', comment: 'not on a Friday' });
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
    expect(written).toEqual([]);
    expect(resultsIn(app)).toEqual([
      { outcome: 'denied', text: expect.stringContaining('not on a Friday') },
    ]);
  });

  test('a rejected call with onReject "fail" ends the run: no result of the tool, no final', async () => {
    const { agent, written } = fixture({ onReject: 'fail' });
    const app = await appOf(agent, [calls(['write', 'a'])], { store: memoryStore() });
    const run = await app.start(agent, 'go');
    await run.result;
    await answer(app, run.runId, { decision: 'reject' });
    const resumed = await app.attach(agent, run.runId);
    expect(await resumed.result).toMatchObject({
      kind: 'failed',
      error: { code: 'APPROVAL_REJECTED' },
    });
    expect(await app.runs.get(run.runId, app.local('me'))).toMatchObject({
      status: 'failed',
      reason: 'approval-rejected',
    });
    expect(written).toEqual([]);
    const results = eventsOf(await logOf(app, run.runId), 'tool-call-result');
    expect(results.map(({ outcome }) => outcome)).toEqual(['denied']);
  });

  test('an answer to another wait leaves the question open', async () => {
    const { agent } = fixture();
    const app = await appOf(agent, [calls(['write', 'a'])], { store: memoryStore() });
    const run = await app.start(agent, 'go');
    await run.result;
    const caller = app.local('operator');
    await expect(
      app.runs.signal(
        run.runId,
        { kind: 'approval-decision', payload: { waitId: 'r0.1.0.w1', decision: 'approve' } },
        caller,
      ),
    ).rejects.toMatchObject({ code: 'WAIT_NOT_FOUND' });
    expect((await app.runs.waits({ status: 'pending' }, caller)).items).toHaveLength(1);
  });
});

test('edited arguments run in place of the model’s, and the model is told', async () => {
  const { agent, written } = fixture();
  const app = await appOf(agent, [calls(['write', 'a']), { text: 'Done.' }], {
    store: memoryStore(),
  });
  const run = await app.start(agent, 'go');
  await run.result;
  await answer(app, run.runId, { decision: 'modify', input: { id: 'b' } });
  await (await app.attach(agent, run.runId)).result;
  expect(written).toEqual(['b']);
  expect(resultsIn(app)).toEqual([
    { outcome: 'ok', text: '[ran with arguments edited by a person: {"id":"b"}]|wrote b' },
  ]);
  const [asked] =
    app.model.requests.at(-1)?.messages.filter(({ role }) => role === 'assistant') ?? [];
  expect(asked?.parts).toMatchObject([{ type: 'tool-call', input: { id: 'a' } }]);
});

test('edited arguments that do not fit the tool are refused before anything is written', async () => {
  const { agent } = fixture();
  const app = await appOf(agent, [calls(['write', 'a'])], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  await run.result;
  await expect(
    answer(app, run.runId, { decision: 'modify', input: { id: 7 } }),
  ).rejects.toMatchObject({ code: 'INPUT_INVALID', message: expect.stringContaining('id') });
  expect((await app.runs.waits({ status: 'pending' }, app.local('me'))).items).toHaveLength(1);
});

test('an edit that came past that check is asked about again, as the next question', async () => {
  const { agent, written } = fixture();
  const store = memoryStore();
  const app = await appOf(agent, [calls(['write', 'a']), { text: 'Done.' }], { store });
  const run = await app.start(agent, 'go');
  const paused = await run.result;
  if (paused.kind !== 'paused') throw new Error(paused.kind);
  const [wait] = paused.waits;
  if (wait === undefined) throw new Error('no wait');
  const resolution = { decision: 'modify' as const, input: { id: 7 } };
  await store.inbox.resolve(
    wait.id,
    { digest: wait.digest, decision: 'modify', resolution: { plain: resolution }, by: 'script' },
    app.local('script'),
  );
  const asked = await (await app.attach(agent, run.runId)).result;
  expect(asked).toMatchObject({
    kind: 'paused',
    waits: [
      {
        id: wait.id.replace(/1$/, '2'),
        prompt: { tool: 'write', problems: [expect.stringContaining('id')] },
      },
    ],
  });
  expect(written).toEqual([]);
  await answer(app, run.runId, { decision: 'approve' });
  await (await app.attach(agent, run.runId)).result;
  expect(written).toEqual(['a']);
});

test('a deferred question stays open', async () => {
  const { agent, written } = fixture();
  const app = await appOf(agent, [calls(['write', 'a']), { text: 'Done.' }], {
    store: memoryStore(),
  });
  const run = await app.start(agent, 'go');
  await run.result;
  await answer(app, run.runId, { decision: 'defer' });
  expect((await app.runs.waits({ status: 'pending' }, app.local('me'))).items).toHaveLength(1);
  await answer(app, run.runId, { decision: 'approve' });
  await (await app.attach(agent, run.runId)).result;
  expect(written).toEqual(['a']);
});

test('the decision "cancel" ends the run as cancelled, by whom it was decided', async () => {
  const { agent, written } = fixture();
  const app = await appOf(agent, [calls(['write', 'a'], ['write', 'b'])], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  await run.result;
  await answer(app, run.runId, { decision: 'cancel', comment: 'never mind' });
  expect(await (await app.attach(agent, run.runId)).result).toMatchObject({
    kind: 'cancelled',
    reason: 'never mind',
    requestedBy: 'operator',
  });
  expect(written).toEqual([]);
  const outcomes = eventsOf(await logOf(app, run.runId), 'tool-call-result');
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['interrupted', 'interrupted']);
});

test('two questions are answered in any order, and the effects keep the order of the batch', async () => {
  const { agent, written } = fixture();
  const app = await appOf(agent, [calls(['write', 'a'], ['write', 'b']), { text: 'Done.' }], {
    store: memoryStore(),
  });
  const run = await app.start(agent, 'go');
  const paused = await run.result;
  if (paused.kind !== 'paused') throw new Error(paused.kind);
  const [first, second] = paused.waits;
  if (first === undefined || second === undefined) throw new Error('two waits');
  const caller = app.local('operator');
  await app.runs.resolve(second.id, { decision: 'approve' }, caller);
  const again = await (await app.attach(agent, run.runId)).result;
  expect(again).toMatchObject({ kind: 'paused', waits: [{ id: first.id }] });
  expect(written).toEqual([]);
  await app.runs.resolve(first.id, { decision: 'approve' }, caller);
  expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
  expect(written).toEqual(['a', 'b']);
});

test('an answer that comes while a sibling runs is acted on without a pause', async () => {
  const written: string[] = [];
  const slow = gate<string>();
  const agent = defineAgent({
    name: 'writer',
    recovery: 'action-boundary',
    tools: [
      read('slow', () => slow.promise),
      effect(
        'write',
        ({ id }) => {
          written.push(id);
          slow.open('slow is done');
          return 'wrote';
        },
        { approval: 'required' },
      ),
    ],
  });
  const app = await appOf(agent, [calls(['slow', 'x'], ['write', 'a']), { text: 'Done.' }], {
    store: memoryStore(),
  });
  const run = await app.start(agent, 'go');
  for await (const { event } of run.events()) {
    if (event.type === 'wait-opened')
      await app.runs.resolve(event.wait.id, { decision: 'approve' }, app.local('operator'));
  }
  expect(await run.result).toMatchObject({ kind: 'completed' });
  expect(written).toEqual(['a']);
  const log = await logOf(app, run.runId);
  expect(eventsOf(log, 'run-paused')).toEqual([]);
});

test('a call without its permission is denied to the model, with evidence, and never asked about', async () => {
  const { agent, written } = fixture({ permissions: ['files.write'] });
  const app = await appOf(agent, [calls(['write', 'a']), { text: 'I may not.' }], {
    store: memoryStore(),
  });
  const run = await app.start(agent, 'go');
  expect(await run.result).toMatchObject({ kind: 'completed' });
  expect(written).toEqual([]);
  expect(resultsIn(app)).toEqual([
    { outcome: 'denied', text: expect.stringContaining('files.write') },
  ]);
  const denied = (await evidenceOf(app, run.runId)).filter(({ kind }) => kind === 'approval');
  expect(denied[0]?.payload).toMatchObject({ decision: 'deny', missing: ['files.write'] });
});

test('a deferral that came past the door is asked again, as the next question', async () => {
  const { agent, written } = fixture();
  const store = memoryStore();
  const app = await appOf(agent, [calls(['write', 'a']), { text: 'Done.' }], { store });
  const run = await app.start(agent, 'go');
  const paused = await run.result;
  const wait = paused.kind === 'paused' ? paused.waits[0] : undefined;
  if (wait === undefined) throw new Error(paused.kind);
  await store.inbox.resolve(
    wait.id,
    {
      digest: wait.digest,
      decision: 'defer',
      resolution: { plain: { decision: 'defer' } },
      by: 'x',
    },
    app.local('script'),
  );
  expect(await (await app.attach(agent, run.runId)).result).toMatchObject({
    kind: 'paused',
    waits: [{ id: wait.id.replace(/1$/, '2'), prompt: wait.prompt }],
  });
  expect(await app.runs.get(run.runId, app.local('me'))).toMatchObject({
    transition: 'waiting-approval',
    reason: 'approval-deferred',
  });
  await answer(app, run.runId, { decision: 'approve' });
  await (await app.attach(agent, run.runId)).result;
  expect(written).toEqual(['a']);
});

test('defaults of a tool’s input are part of what is approved, bound and run, also without a store', async () => {
  const seen: unknown[] = [];
  const tool = defineTool({
    name: 'write',
    description: 'Writes.',
    input: Type.Object({ id: Type.String(), copies: Type.Integer({ default: 2 }) }),
    effects: effects.readOnly(),
    execute: (input) => {
      seen.push(input);
      return 'ok';
    },
  });
  for (const recovery of ['action-boundary', 'none'] as const) {
    const agent = defineAgent({ name: 'writer', recovery, tools: [tool] });
    const app = await appOf(
      agent,
      [calls(['write', 'a']), { text: 'Done.' }],
      recovery === 'none' ? {} : { store: memoryStore() },
    );
    await app.run(agent, 'go');
  }
  expect(seen).toEqual([
    { id: 'a', copies: 2 },
    { id: 'a', copies: 2 },
  ]);
});
