import { describe, expect, test } from 'vitest';
import {
  AgentError,
  type AgentSpec,
  type AgentYield,
  defineAgent,
  type Needs,
  type RunSignal,
  type SignalKind,
} from '../../src/index.ts';
import { runControls } from '../../src/runner/run-controls.ts';
import { memoryStore, type ScriptStep } from '../../src/testing/index.ts';
import {
  answer,
  appOf,
  calls,
  effect,
  eventsOf,
  evidenceOf,
  type Gate,
  gate,
  logOf,
  NEVER,
  processOver,
  read,
  settled,
  type TestApp,
  typesOf,
  unreachable,
  until,
  userTexts,
} from './harness.ts';

const ALL: readonly SignalKind[] = [
  'user-message',
  'steering-instruction',
  'follow-up',
  'pause',
  'resume',
  'external-event',
  'scheduler-wake-up',
];

function chatting(hold: Gate<string>, signals: AgentSpec<Needs, undefined>['signals'] = {}) {
  return defineAgent({
    name: 'chat',
    recovery: 'action-boundary',
    accepts: ALL,
    signals,
    tools: [
      read('look', () => hold.promise),
      effect('gated', () => 'ok', { approval: 'required' }),
    ],
  });
}

const send = (
  app: TestApp,
  runId: Parameters<TestApp['runs']['signal']>[0],
  kind: SignalKind,
  text?: string,
) =>
  app.runs.signal(
    runId,
    { kind, payload: text === undefined ? {} : { text } },
    app.local('somebody'),
  );

describe('core-contract §12.44 (ours: the text reaches the model)', () => {
  test('messages and steering reach the model in their order at the next safe boundary, follow-ups at the end', async () => {
    const hold = gate<string>();
    const agent = chatting(hold);
    const app = await appOf(
      agent,
      [calls(['look', 'a']), { text: 'First.' }, { text: 'Second.' }],
      {
        store: memoryStore(),
      },
    );
    const run = await app.start(agent, 'go');
    await until(() => app.model.requests.length === 1);
    await send(app, run.runId, 'follow-up', 'later');
    await send(app, run.runId, 'user-message', 'one');
    await app.runs.signal(
      run.runId,
      { kind: 'steering-instruction', payload: { instruction: 'two' } },
      app.local('somebody'),
    );
    await app.runs.signal(
      run.runId,
      { kind: 'user-message', payload: { message: 'three' } },
      app.local('somebody'),
    );
    hold.open('seen');
    expect(await run.result).toMatchObject({ kind: 'completed', text: 'Second.' });
    const texts = app.model.requests.map(({ messages }) =>
      messages.flatMap(({ role, parts }) =>
        role === 'user' ? parts.map((part) => (part.type === 'text' ? part.text : '')) : [],
      ),
    );
    expect(texts).toEqual([
      ['go'],
      ['go', 'one', 'two', 'three'],
      ['go', 'one', 'two', 'three', 'later'],
    ]);
    const log = await logOf(app, run.runId);
    expect(
      eventsOf(log, 'signal-consumed').map(({ kind, signalSeq }) => [kind, signalSeq]),
    ).toEqual([
      ['user-message', 2],
      ['steering-instruction', 3],
      ['user-message', 4],
      ['follow-up', 1],
    ]);
    const evidence = (await evidenceOf(app, run.runId)).filter(({ kind }) => kind === 'signal');
    expect(evidence[0]?.payload).toMatchObject({ kind: 'user-message', payload: { text: 'one' } });
  });

  test('a hook shows something first, and the message still reaches the model', async () => {
    const hold = gate<string>();
    const seen: RunSignal[] = [];
    const agent = chatting(hold, {
      'user-message': async function* (signal, context) {
        seen.push(signal);
        yield { kind: 'progress', message: `noted by ${context.agentName}`, detail: { ok: true } };
        yield { kind: 'evidence', evidenceKind: 'evaluation', evidenceSeq: 1 };
      },
    });
    const app = await appOf(agent, [calls(['look', 'a']), { text: 'First.' }], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'go');
    await until(() => app.model.requests.length === 1);
    await send(app, run.runId, 'user-message', 'one');
    hold.open('seen');
    await run.result;
    expect(userTexts(app)).toEqual(['go', 'one']);
    expect(seen).toMatchObject([{ kind: 'user-message', payload: { text: 'one' } }]);
    expect(eventsOf(await logOf(app, run.runId), 'progress')).toEqual([
      { type: 'progress', message: 'noted by chat', detail: { ok: true } },
    ]);
  });

  test('a hook that says "handled" keeps the message from the model', async () => {
    const hold = gate<string>();
    const agent = chatting(hold, {
      'user-message': async function* () {
        yield { kind: 'token', text: 'I answer this myself.' };
        return 'handled';
      },
    });
    const app = await appOf(agent, [calls(['look', 'a']), { text: 'First.' }], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'go');
    await until(() => app.model.requests.length === 1);
    await send(app, run.runId, 'user-message', 'one');
    hold.open('seen');
    await run.result;
    expect(userTexts(app)).toEqual(['go']);
    expect(eventsOf(await logOf(app, run.runId), 'message-delta')[0]).toMatchObject({
      delta: 'I answer this myself.',
    });
  });

  test('a message that a hook handles when the run is about to end does not make the model answer again', async () => {
    const begin = gate();
    const agent = chatting(gate(), {
      'user-message': async function* () {
        yield { kind: 'progress', message: 'handled' };
        return 'handled';
      },
    });
    const app = await appOf(agent, [{ text: 'The answer.', until: begin.promise }], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'go');
    await until(() => app.model.requests.length === 1);
    await send(app, run.runId, 'user-message', 'one');
    begin.open();
    expect(await run.result).toMatchObject({ kind: 'completed', text: 'The answer.' });
    const log = await logOf(app, run.runId);
    expect(eventsOf(log, 'progress')).toMatchObject([{ message: 'handled' }]);
    expect(typesOf(log).at(-1)).toBe('run-finished');
  });

  const endings: readonly [string, () => AsyncGenerator<AgentYield, void, void>, object][] = [
    [
      'an error yield',
      async function* () {
        yield { kind: 'error', code: 'X', message: 'not like this', mend: '' };
      },
      {
        kind: 'failed',
        error: { code: 'HOOK_FAILED', message: expect.stringContaining('not like this') },
      },
    ],
    [
      'a final yield',
      async function* () {
        yield { kind: 'final', output: 'x' };
      },
      { kind: 'failed', error: { code: 'HOOK_FAILED', message: expect.stringContaining('final') } },
    ],
    [
      'a cancel yield with a reason',
      async function* () {
        yield { kind: 'cancel', reason: 'told to stop' };
      },
      { kind: 'cancelled', reason: 'told to stop', requestedBy: 'hook' },
    ],
    [
      'a cancel yield without one',
      async function* () {
        yield { kind: 'cancel' };
      },
      { kind: 'cancelled', requestedBy: 'hook' },
    ],
    [
      'a bug',
      async function* () {
        yield { kind: 'progress', message: 'so far so good' };
        throw new Error('a bug');
      },
      { kind: 'failed', error: { code: 'HOOK_FAILED', message: expect.stringContaining('a bug') } },
    ],
  ];
  test.each(endings)('a hook ends its run by %s', async (_, hook, expected) => {
    const hold = gate<string>();
    const agent = chatting(hold, { 'user-message': hook });
    const app = await appOf(agent, [calls(['look', 'a'])], { store: memoryStore() });
    const run = await app.start(agent, 'go');
    await until(() => app.model.requests.length === 1);
    await send(app, run.runId, 'user-message', 'one');
    hold.open('seen');
    expect(await run.result).toMatchObject(expected);
    expect(eventsOf(await logOf(app, run.runId), 'run-finished')).toHaveLength(1);
  });
});

test('a kind that the agent does not accept is refused at the door', async () => {
  const agent = defineAgent({ name: 'deaf', recovery: 'action-boundary', tools: [] });
  const begin = gate();
  const app = await appOf(agent, [{ text: 'x', until: begin.promise }], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  await expect(send(app, run.runId, 'user-message', 'hey')).rejects.toMatchObject({
    code: 'SIGNAL_NOT_ACCEPTED',
  });
  begin.open();
  await run.result;
});

test('one signal that is sent twice under one key is read once', async () => {
  const hold = gate<string>();
  const agent = chatting(hold);
  const app = await appOf(agent, [calls(['look', 'a']), { text: 'First.' }], {
    store: memoryStore(),
  });
  const run = await app.start(agent, 'go');
  await until(() => app.model.requests.length === 1);
  const message = { kind: 'user-message', payload: { text: 'one' }, dedupeKey: 'k' } as const;
  await app.runs.signal(run.runId, message, app.local('somebody'));
  await app.runs.signal(run.runId, message, app.local('somebody'));
  hold.open('seen');
  await run.result;
  expect(userTexts(app)).toEqual(['go', 'one']);
});

describe('pause and resume', () => {
  test('a pause holds a run without a question until resume, over another process', async () => {
    const hold = gate<string>();
    const agent = chatting(hold);
    const store = memoryStore();
    const first = await appOf(agent, [calls(['look', 'a'])], { store });
    const run = await first.start(agent, 'go');
    await until(() => first.model.requests.length === 1);
    await send(first, run.runId, 'pause');
    hold.open('seen');
    expect(await run.result).toMatchObject({ kind: 'paused', waits: [] });
    expect(await first.runs.get(run.runId, first.local('me'))).toMatchObject({
      status: 'interrupted',
      reason: 'user-interrupted',
    });
    await first.close();
    const second = await appOf(agent, [{ text: 'Done.' }], { store });
    await send(second, run.runId, 'resume');
    expect(await (await second.attach(agent, run.runId)).result).toMatchObject({
      kind: 'completed',
    });
  });

  test('a held run stays held when something else wakes it', async () => {
    const hold = gate<string>();
    const agent = chatting(hold);
    const app = await appOf(agent, [calls(['look', 'a'], ['gated', 'b']), { text: 'Done.' }], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'go');
    for await (const { event } of run.events()) {
      if (event.type === 'step-started' && event.kind === 'tool') break;
    }
    await send(app, run.runId, 'pause');
    hold.open('seen');
    expect(await run.result).toMatchObject({ kind: 'paused', waits: [{ kind: 'approval' }] });
    await answer(app, run.runId, { decision: 'approve' });
    const woken = await (await app.attach(agent, run.runId)).result;
    expect(woken).toMatchObject({ kind: 'paused', waits: [] });
    expect(eventsOf(await logOf(app, run.runId), 'tool-call-result')).toHaveLength(1);
    await send(app, run.runId, 'resume');
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
  });

  test('a pause during the model’s answer keeps its calls from starting', async () => {
    const begin = gate();
    const agent = chatting(gate());
    const app = await appOf(
      agent,
      [{ ...calls(['look', 'a']), text: 'I look.', until: begin.promise }],
      { store: memoryStore() },
    );
    const run = await app.start(agent, 'go');
    await until(() => app.model.requests.length === 1);
    await send(app, run.runId, 'pause');
    begin.open();
    expect(await run.result).toMatchObject({ kind: 'paused', waits: [] });
    expect(eventsOf(await logOf(app, run.runId), 'run-paused')).toHaveLength(1);
  });

  test('a resume of a run that is not held changes nothing', async () => {
    const begin = gate();
    const agent = chatting(gate());
    const app = await appOf(agent, [{ text: 'Done.', until: begin.promise }], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'go');
    await until(() => app.model.requests.length === 1);
    await send(app, run.runId, 'resume');
    begin.open();
    expect(await run.result).toMatchObject({ kind: 'completed', text: 'Done.' });
  });

  test('a held run can be cancelled', async () => {
    const hold = gate<string>();
    const agent = chatting(hold);
    const app = await appOf(agent, [calls(['look', 'a'])], { store: memoryStore() });
    const run = await app.start(agent, 'go');
    await until(() => app.model.requests.length === 1);
    await send(app, run.runId, 'pause');
    hold.open('seen');
    await run.result;
    await app.runs.cancel(run.runId, undefined, app.local('me'));
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'cancelled' });
  });
});

test('messages that a failed or cancelled run did not read are named by its result', async () => {
  const hold = gate<string>();
  const agent = chatting(hold);
  const app = await appOf(agent, [calls(['gated', 'a'])], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  await run.result;
  await app.runs.signal(
    run.runId,
    { kind: 'user-message', payload: { text: 'unheard' }, dedupeKey: 'mine' },
    app.local('somebody'),
  );
  await app.runs.cancel(run.runId, undefined, app.local('me'));
  const cancelled = await (await app.attach(agent, run.runId)).result;
  expect(cancelled).toMatchObject({ kind: 'cancelled', unread: ['mine'] });
});

describe('while a tool runs', () => {
  const running = async (steps: readonly ScriptStep[]) => {
    const hold = gate<string>();
    const agent = chatting(hold);
    const app = await appOf(agent, steps, { store: memoryStore() });
    const run = await app.start(agent, 'go');
    for await (const { event } of run.events()) {
      if (event.type === 'step-started' && event.kind === 'tool') break;
    }
    return { agent, app, run, hold };
  };

  test('a pause waits for its result, and is taken before the next model call', async () => {
    const { agent, app, run, hold } = await running([calls(['look', 'a']), { text: 'Done.' }]);
    await send(app, run.runId, 'pause');
    hold.open('seen');
    expect(await run.result).toMatchObject({ kind: 'paused', waits: [] });
    expect(app.model.requests).toHaveLength(1);
    const results = eventsOf(await logOf(app, run.runId), 'tool-call-result');
    expect(results).toMatchObject([{ outcome: 'ok' }]);
    await send(app, run.runId, 'resume');
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
  });

  test('many messages are all read, in several commits', async () => {
    const { app, run, hold } = await running([calls(['look', 'a']), { text: 'Done.' }]);
    const texts = Array.from({ length: 100 }, (_, n) => `message ${n}`);
    for (const text of texts) await send(app, run.runId, 'user-message', text);
    hold.open('seen');
    expect(await run.result).toMatchObject({ kind: 'completed' });
    expect(userTexts(app)).toEqual(['go', ...texts]);
  });
});

test('a resume that comes while the run is being given back is read at once', async () => {
  const hold = gate<string>();
  const agent = chatting(hold);
  const store = memoryStore();
  let told = false;
  const process = processOver(store, async (commit) => {
    if (commit.release === undefined || told) return undefined;
    told = true;
    const [state] = commit.runs;
    if (state === undefined) return undefined;
    await store.inbox.append(
      state.runId,
      { kind: 'resume', payload: {}, dedupeKey: 'resume' },
      { signal: NEVER },
    );
    return undefined;
  });
  const app = await appOf(agent, [calls(['look', 'a']), { text: 'Done.' }], {
    store: process.store,
  });
  const run = await app.start(agent, 'go');
  for await (const { event } of run.events()) {
    if (event.type === 'step-started' && event.kind === 'tool') break;
  }
  await send(app, run.runId, 'pause');
  hold.open('seen');
  expect(await run.result).toMatchObject({ kind: 'completed', text: 'Done.' });
});

test('an error of ours that a hook throws is kept as it is', async () => {
  const hold = gate<string>();
  const agent = chatting(hold, {
    'user-message': async function* () {
      yield { kind: 'progress', message: 'x' };
      throw new AgentError('INPUT_INVALID', { message: 'not that', mend: 'Something else.' });
    },
  });
  const app = await appOf(agent, [calls(['look', 'a'])], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  await until(() => app.model.requests.length === 1);
  await send(app, run.runId, 'user-message', 'one');
  hold.open('seen');
  expect(await run.result).toMatchObject({ kind: 'failed', error: { code: 'INPUT_INVALID' } });
});

test('a message without a known text is given as the JSON that it is', async () => {
  const hold = gate<string>();
  const agent = chatting(hold);
  const store = memoryStore();
  const app = await appOf(agent, [calls(['look', 'a']), { text: 'Done.' }], { store });
  const run = await app.start(agent, 'go');
  await until(() => app.model.requests.length === 1);
  await store.inbox.append(
    run.runId,
    { kind: 'user-message', payload: { custom: 1 }, dedupeKey: 'x' },
    { signal: NEVER },
  );
  hold.open('seen');
  await run.result;
  expect(userTexts(app)).toEqual(['go', '{"custom":1}']);
});

describe('an inbox that cannot be read for a moment', () => {
  const flaky = () => {
    const store = memoryStore();
    let failures = 0;
    return {
      failNext: () => {
        failures = 1;
      },
      store: {
        ...store,
        inbox: {
          ...store.inbox,
          pending: (...given: Parameters<typeof store.inbox.pending>) => {
            failures -= 1;
            return failures === 0 ? Promise.reject(unreachable()) : store.inbox.pending(...given);
          },
        },
      },
    };
  };

  test('is read again at the next boundary: of the model’s stream, and of the batch', async () => {
    const hold = gate<string>();
    const begin = gate();
    const agent = chatting(hold);
    const { store, failNext } = flaky();
    const app = await appOf(
      agent,
      [{ ...calls(['look', 'a']), text: ['x', 'y'], until: begin.promise }, { text: 'Done.' }],
      { store },
    );
    const run = await app.start(agent, 'go');
    await until(() => app.model.requests.length === 1);
    failNext();
    await send(app, run.runId, 'user-message', 'one');
    await settled();
    begin.open();
    for await (const { event } of run.events()) {
      if (event.type === 'step-started' && event.kind === 'tool') break;
    }
    failNext();
    await send(app, run.runId, 'user-message', 'two');
    await settled();
    hold.open('seen');
    expect(await run.result).toMatchObject({ kind: 'completed' });
    expect(userTexts(app)).toEqual(['go', 'one', 'two']);
  });

  test('is read again before a body waits for an answer', async () => {
    const { store, failNext } = flaky();
    const go = gate();
    const agent = defineAgent({
      name: 'asker',
      recovery: 'action-boundary',
      accepts: ['user-message'],
      execute: async (_input, context) => {
        await go.promise;
        return (await runControls(context).ask({ prompt: { message: '?' } })).decision;
      },
    });
    const app = await appOf(agent, [], { store });
    const run = await app.start(agent, 'go');
    await settled();
    failNext();
    await send(app, run.runId, 'user-message', 'unread');
    await settled();
    go.open();
    await until(async () => (await app.runs.waits({}, app.local('me'))).items.length === 1);
    await answer(app, run.runId, { decision: 'approve' });
    expect(await run.result).toMatchObject({ kind: 'completed', text: 'approve' });
  });

  test('is read again while a body waits for an answer', async () => {
    const { store, failNext } = flaky();
    const agent = defineAgent({
      name: 'asker',
      recovery: 'action-boundary',
      accepts: ['user-message'],
      execute: async (_input, context) =>
        (await runControls(context).ask({ prompt: { message: '?' } })).decision,
    });
    const app = await appOf(agent, [], { store });
    const run = await app.start(agent, 'go');
    await until(async () => (await app.runs.waits({}, app.local('me'))).items.length === 1);
    failNext();
    await answer(app, run.runId, { decision: 'approve' });
    await send(app, run.runId, 'user-message', 'wake up');
    expect(await run.result).toMatchObject({ kind: 'completed', text: 'approve' });
  });
});
