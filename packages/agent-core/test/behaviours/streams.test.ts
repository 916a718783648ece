import { describe, expect, test } from 'vitest';
import {
  AgentError,
  type AgentModel,
  bind,
  bootstrap,
  defineAgent,
  type Envelope,
  Model,
  type ModelEvent,
  Observer,
  type Observer as ObserverType,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  answer,
  appOf,
  calls,
  collected,
  effect,
  eventsOf,
  evidenceOf,
  gate,
  logOf,
  NEVER,
  read,
  typesOf,
  until,
} from './harness.ts';

const stateless = defineAgent({
  name: 'stateless',
  tools: [read('look', ({ id }) => `saw ${id}`)],
});
const durable = defineAgent({
  name: 'durable',
  recovery: 'action-boundary',
  tools: [
    read('look', ({ id }) => `saw ${id}`),
    effect('gated', () => 'ok', { approval: 'required' }),
  ],
});

const broken = (retryable: boolean): AgentError =>
  new AgentError('MODEL_FAILED', { message: 'the wire is cut', mend: 'Try again.', retryable });

/** A model that plays batches of events as they are. */
function modelOf(...answers: readonly (readonly (readonly ModelEvent[])[])[]): AgentModel {
  let asked = 0;
  return {
    id: 'played',
    capabilities: () => ({
      tools: true,
      reasoning: true,
      structuredOutput: 'none',
      inputModalities: ['text'],
    }),
    stream: async function* () {
      const batches = answers[asked] ?? [];
      asked += 1;
      yield* batches;
    },
  };
}

const finish: ModelEvent = {
  type: 'finish',
  reason: 'stop',
  usage: { inputTokens: 1, outputTokens: 1 },
  model: 'played',
};

describe('core-contract §12.49', () => {
  test('a run that pauses ends its stream in run-paused; ids are stable; every event is attributed', async () => {
    const app = await appOf(
      durable,
      [{ ...calls(['gated', 'a']), text: 'I write.', reasoning: 'hm' }],
      {
        store: memoryStore(),
      },
    );
    const run = await app.start(durable, 'go');
    const shown = await collected(run.events());
    expect(typesOf(shown).at(-1)).toBe('run-paused');
    expect(typesOf(shown)).not.toContain('run-finished');
    const id = run.runId;
    expect(eventsOf(shown, 'message-delta')[0]?.messageId).toBe(`${id}.m2`);
    expect(eventsOf(shown, 'reasoning-delta')[0]?.reasoningId).toBe(`${id}.m2.r`);
    expect(eventsOf(shown, 'tool-call-start')).toEqual([
      { type: 'tool-call-start', messageId: `${id}.m2`, callId: `${id}.1.0`, toolName: 'gated' },
    ]);
    for (const { rootRunId, runId, agent } of shown)
      expect([rootRunId, runId, agent]).toEqual([id, id, 'durable']);
  });

  test('reasoning is left out of a model that does not say it reasons', async () => {
    const app = await appOf(stateless, [{ text: 'Hi.', reasoning: 'secret thoughts' }], {
      model: { capabilities: { reasoning: false } },
    });
    const run = await app.start(stateless, 'go');
    expect(typesOf(await collected(run.events()))).not.toContain('reasoning-delta');
  });
});

describe('core-contract §12.40 and §12.46', () => {
  test('tokens, a tool, evidence and a final with the contract’s summary', async () => {
    const app = await appOf(durable, [calls(['look', 'a']), { text: ['It ', 'is.'] }], {
      store: memoryStore(),
    });
    const run = await app.start(durable, 'go');
    const items: { readonly kind: string; readonly output?: unknown }[] = [];
    for await (const item of run.yields()) items.push(item);
    expect(new Set(items.map(({ kind }) => kind))).toEqual(
      new Set(['progress', 'tool', 'evidence', 'token', 'final']),
    );
    const count = (await evidenceOf(app, run.runId)).length;
    expect(items.at(-1)).toEqual({
      kind: 'final',
      output: {
        stateId: run.runId,
        status: 'completed',
        toolCalls: ['look'],
        evidenceCount: count,
        text: 'It is.',
      },
    });
    expect(count).toBeGreaterThan(0);
  });

  test('a stateless run has no evidence and no state', async () => {
    const app = await appOf(stateless, [calls(['look', 'a']), { text: 'Done.' }]);
    const run = await app.start(stateless, 'go');
    const shown = await collected(run.events());
    expect(typesOf(shown)).not.toContain('evidence-recorded');
    expect(await run.result).toMatchObject({ evidenceCount: 0, toolCalls: ['look'] });
    await expect(app.runs.get(run.runId, app.local('me'))).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    });
  });
});

describe('core-contract §12.42', () => {
  test('an error of the model fails the run with its code, after what was shown, and without a final', async () => {
    const app = await appOf(stateless, [{ text: 'It', error: broken(false) }]);
    const run = await app.start(stateless, 'go');
    const items: unknown[] = [];
    for await (const item of run.yields()) items.push(item);
    expect(items.at(-1)).toEqual({
      kind: 'error',
      code: 'MODEL_FAILED',
      message: 'the wire is cut',
      mend: 'Try again.',
    });
    expect(items).not.toContainEqual(expect.objectContaining({ kind: 'final' }));
    expect(await run.result).toMatchObject({ kind: 'failed', error: { code: 'MODEL_FAILED' } });
  });

  test('what is thrown and is no error of ours fails the run, too', async () => {
    const app = await appOf(stateless, [{ error: 'just a text' as never }]);
    expect(await app.run(stateless, 'go')).toMatchObject({
      kind: 'failed',
      error: { code: 'EXECUTE_FAILED', message: 'just a text' },
    });
  });
});

describe('a retry', () => {
  test('after the first event takes back what was shown and starts the step again', async () => {
    const app = await appOf(durable, [{ text: 'Hel', error: broken(true) }, { text: 'Hello.' }], {
      store: memoryStore(),
    });
    const run = await app.start(durable, 'go');
    const shown = await collected(run.events());
    expect(typesOf(shown).filter((type) => !type.startsWith('evidence'))).toEqual([
      'run-started',
      'step-started',
      'message-delta',
      'rewound',
      'step-started',
      'message-delta',
      'step-finished',
      'run-finished',
    ]);
    const step = `${run.runId}.s1`;
    expect(eventsOf(shown, 'rewound')).toEqual([
      { type: 'rewound', steps: [step], reason: 'model-retry' },
    ]);
    expect(eventsOf(shown, 'step-started').map(({ stepId }) => stepId)).toEqual([step, step]);
    expect(await run.result).toMatchObject({ kind: 'completed', text: 'Hello.' });
    expect((await logOf(app, run.runId)).map(({ seq }) => seq)).toEqual(
      shown.map(({ seq }) => seq),
    );
  });

  test('before the first event is the adapter’s: nothing is asked again', async () => {
    const app = await appOf(stateless, [{ error: broken(true) }]);
    expect(await app.run(stateless, 'go')).toMatchObject({
      kind: 'failed',
      error: { code: 'MODEL_FAILED' },
    });
  });

  test('is bounded', async () => {
    const step = { text: 'Hel', error: broken(true) };
    const app = await appOf(stateless, [step, step, step]);
    const run = await app.start(stateless, 'go');
    expect(await run.result).toMatchObject({ kind: 'failed', error: { code: 'MODEL_FAILED' } });
    expect(eventsOf(await collected(run.events()), 'rewound')).toHaveLength(2);
  });
});

describe('cases C28: a stream that ends without a finish', () => {
  test('is cut: it is asked again, and fails when it stays so', async () => {
    const text: ModelEvent = { type: 'text', text: 'Hel' };
    const app = await bootstrap({
      plugins: [],
      agents: [stateless],
      provide: [bind(Model, modelOf([[text]], [[text]], [[text]]))],
    });
    expect(await app.run(stateless, 'go')).toMatchObject({
      kind: 'failed',
      error: { code: 'MODEL_STREAM_TRUNCATED' },
    });
  });

  test('an empty stream is cut, too', async () => {
    const app = await bootstrap({
      plugins: [],
      agents: [stateless],
      provide: [bind(Model, modelOf([]))],
    });
    expect(await app.run(stateless, 'go')).toMatchObject({
      kind: 'failed',
      error: { code: 'MODEL_STREAM_TRUNCATED' },
    });
  });
});

describe('cases C33: calls as servers stream them', () => {
  test('gaps between indexes, empty deltas and a start that comes twice make the calls that were asked for', async () => {
    const start = (index: number, name: string): ModelEvent => ({
      type: 'tool-call-start',
      index,
      name,
    });
    const piece = (index: number, delta: string): ModelEvent => ({
      type: 'tool-call-delta',
      index,
      delta,
    });
    const asked = [
      start(0, 'look'),
      piece(0, '{"id":'),
      piece(0, ''),
      start(7, 'look'),
      start(0, 'look'),
      piece(7, '{"id":"b"}'),
      piece(0, '"a"}'),
      piece(3, 'of nobody'),
      { type: 'text', text: '' } as const,
      { type: 'reasoning', text: '' } as const,
      { ...finish, reason: 'tool-calls' } as const,
    ];
    const app = await bootstrap({
      plugins: [],
      agents: [stateless],
      provide: [bind(Model, modelOf([asked], [[{ type: 'text', text: 'Done.' }, finish]]))],
    });
    const run = await app.start(stateless, 'go');
    const shown = await collected(run.events());
    const results = eventsOf(shown, 'tool-call-result');
    expect(results.map(({ callId, content }) => [callId.slice(run.runId.length), content])).toEqual(
      [
        ['.1.0', [{ type: 'text', text: 'saw a' }]],
        ['.1.1', [{ type: 'text', text: 'saw b' }]],
      ],
    );
    expect(eventsOf(shown, 'tool-call-args-delta').map(({ delta }) => delta)).toEqual([
      '{"id":',
      '{"id":"b"}',
      '"a"}',
    ]);
  });
});

test('reasoning and provider state are kept with the answer and go back to the model', async () => {
  const state = { provider: 'p', value: 'signature' };
  const seen: unknown[] = [];
  const played = modelOf(
    [
      [
        { type: 'reasoning', text: 'I look.' },
        { type: 'provider-state', state },
        { type: 'provider-state', state: { provider: 'p', value: 'second' } },
        { type: 'tool-call-start', index: 0, name: 'look', providerCallId: 'call_1' },
        { type: 'tool-call-delta', index: 0, delta: '{"id":"a"}' },
        { ...finish, reason: 'tool-calls' },
      ],
    ],
    [[{ type: 'provider-state', state }, { type: 'text', text: 'Done.' }, finish]],
  );
  const app = await bootstrap({
    plugins: [],
    agents: [stateless],
    provide: [
      bind(Model, {
        ...played,
        stream: (request, stop) => {
          seen.push(request.messages.filter(({ role }) => role === 'assistant'));
          return played.stream(request, stop);
        },
      }),
    ],
  });
  await app.run(stateless, 'go');
  expect(seen[1]).toMatchObject([
    {
      parts: [
        { type: 'reasoning', text: 'I look.', provider: state },
        { type: 'reasoning', text: '', provider: { provider: 'p', value: 'second' } },
        { type: 'tool-call', providerCallId: 'call_1', toolName: 'look', input: { id: 'a' } },
      ],
    },
  ]);
});

describe('usage', () => {
  test('is set once for a call and summed over calls, retries and resumes', async () => {
    const store = memoryStore();
    const usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 50 };
    const first = await appOf(
      durable,
      [
        { text: 'cut', error: broken(true) },
        { ...calls(['gated', 'a']), usage },
      ],
      { store },
    );
    const run = await first.start(durable, 'go');
    expect(await run.result).toMatchObject({ kind: 'paused', usage });
    const second = await appOf(durable, [{ text: 'Done.', usage: { inputTokens: 1 } }], { store });
    await answer(second, run.runId, { decision: 'approve' });
    const result = await (await second.attach(durable, run.runId)).result;
    expect(result.usage).toEqual({ inputTokens: 101, outputTokens: 10, cachedInputTokens: 50 });
  });
});

test('an answer that wants to be continued is asked again, within the limits', async () => {
  const app = await appOf(
    durable,
    [{ text: 'Part one.', finish: 'continue' }, { text: 'Part two.' }],
    {
      store: memoryStore(),
    },
  );
  expect(await app.run(durable, 'go')).toMatchObject({
    kind: 'completed',
    text: 'Part one.Part two.',
  });
  expect(app.model.requests[1]?.messages.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
  ]);
});

test('an answer that a filter stopped is an error with a mend', async () => {
  const app = await appOf(stateless, [{ text: 'I', finish: 'content-filter' }]);
  expect(await app.run(stateless, 'go')).toMatchObject({
    kind: 'failed',
    error: { code: 'MODEL_REFUSED' },
  });
});

describe('a reader', () => {
  test('that joins at any cursor, of the owner or of the log, sees every event above it exactly once', async () => {
    const store = memoryStore();
    const app = await appOf(
      durable,
      [calls(['look', 'a'], ['gated', 'b']), { text: ['x', 'y', 'z'] }],
      {
        store,
      },
    );
    const run = await app.start(durable, 'go');
    await run.result;
    await answer(app, run.runId, { decision: 'approve' });
    const resumed = await app.attach(durable, run.runId);
    await resumed.result;
    const whole: Envelope[] = [];
    for (let after = 0; ; after = whole.at(-1)?.seq ?? 0) {
      const more = await logOf(app, run.runId, after);
      if (more.length === 0) break;
      whole.push(...more);
    }
    for (const { seq } of whole) {
      const rest: number[] = [];
      for (let after = seq; ; after = rest.at(-1) ?? after) {
        const more = await logOf(app, run.runId, after);
        if (more.length === 0) break;
        rest.push(...more.map((one) => one.seq));
      }
      expect(rest).toEqual(whole.map((one) => one.seq).filter((one) => one > seq));
    }
  });

  test('that comes while the run goes on sees what came before and what comes', async () => {
    const hold = gate();
    const app = await appOf(durable, [{ text: ['a', 'b'], until: hold.promise }], {
      store: memoryStore(),
    });
    const run = await app.start(durable, 'go');
    await until(() => app.model.requests.length === 1);
    const early = collected(run.events());
    const watched: Envelope[] = [];
    const watching = (async () => {
      for await (const batch of app.runs.watch(run.runId, {}, app.local('me')))
        watched.push(...batch);
    })();
    hold.open();
    await watching;
    expect(watched).toEqual(await early);
    expect(typesOf(watched).at(-1)).toBe('run-finished');
  });

  test('that is far behind a long answer goes on from the log', async () => {
    const pieces = Array.from({ length: 5_000 }, (_, n) => `${n} `);
    const hold = gate();
    const app = await appOf(
      durable,
      [
        { ...calls(['look', 'a']), text: pieces },
        { text: 'Done.', until: hold.promise },
      ],
      { store: memoryStore() },
    );
    const run = await app.start(durable, 'go');
    const slow = run.events()[Symbol.asyncIterator]();
    const first = await slow.next();
    await until(() => app.model.requests.length === 2);
    const seen: Envelope[] = first.done === true ? [] : [first.value];
    hold.open();
    await run.result;
    for (let next = await slow.next(); next.done !== true; next = await slow.next())
      seen.push(next.value);
    const texts = eventsOf(seen, 'message-delta').map(({ delta }) => delta);
    expect(texts).toEqual([...pieces, 'Done.']);
    expect(typesOf(seen).at(-1)).toBe('run-finished');
  });

  test('that leaves early stops nothing', async () => {
    const app = await appOf(stateless, [{ text: ['a', 'b'] }]);
    const run = await app.start(stateless, 'go');
    for await (const _ of run.events()) break;
    expect(await run.result).toMatchObject({ kind: 'completed' });
  });
});

describe('an observer', () => {
  function recording(fails = ''): { readonly observer: ObserverType; readonly spans: string[] } {
    const spans: string[] = [];
    return {
      spans,
      observer: {
        around: async ({ kind, name, attributes }, work) => {
          if (kind === fails) throw new Error('no collector');
          const notes: object[] = [];
          spans.push(`> ${kind}`);
          const result = await work((noted) => notes.push(noted));
          spans.push(`< ${kind} ${kind === 'commit' ? '' : name} ${JSON.stringify(notes)}`);
          expect(attributes['runId']).toEqual(expect.any(String));
          return result;
        },
      },
    };
  }

  test('is around the run, every model call, every tool call and every commit', async () => {
    const { observer, spans } = recording();
    const app = await appOf(durable, [calls(['look', 'a']), { text: 'Done.' }], {
      store: memoryStore(),
      provide: [bind(Observer, observer)],
    });
    await app.run(durable, 'go');
    const usage = '{"inputTokens":10,"outputTokens":5}';
    expect(spans).toEqual([
      '> run',
      '> model',
      `< model durable [{"model":"scripted","finish":"tool-calls","usage":${usage}}]`,
      '> commit',
      '< commit  []',
      '> tool',
      '< tool look [{"outcome":"ok"}]',
      '> commit',
      '< commit  []',
      '> model',
      `< model durable [{"model":"scripted","finish":"stop","usage":${usage}}]`,
      '> commit',
      '< commit  []',
      '< run durable [{"rest":"completed"}]',
    ]);
  });

  test('notes a pause', async () => {
    const { observer, spans } = recording();
    const app = await appOf(durable, [calls(['gated', 'a'])], {
      store: memoryStore(),
      provide: [bind(Observer, observer)],
    });
    await app.run(durable, 'go');
    expect(spans.at(-1)).toBe('< run durable [{"rest":"paused"}]');
  });

  test('that fails around a tool leaves no call without a result', async () => {
    const { observer } = recording('tool');
    const app = await appOf(durable, [calls(['look', 'a']), { text: 'Done.' }], {
      store: memoryStore(),
      provide: [bind(Observer, observer)],
    });
    expect(await app.run(durable, 'go')).toMatchObject({ kind: 'completed' });
  });
});

test('the log of a store that fills up with live events is flushed while the model still talks', async () => {
  const pieces = Array.from({ length: 5_000 }, () => 'x');
  let flushes = 0;
  const store = memoryStore();
  const { ownership } = store;
  const app = await appOf(durable, [{ text: pieces }], {
    store: {
      ...store,
      ownership: {
        ...ownership,
        commit: (lease, commit, stop) => {
          if (!commit.progress && commit.messages === undefined) flushes += 1;
          return ownership.commit(lease, commit, stop);
        },
      },
    },
  });
  const run = await app.start(durable, 'go');
  await run.result;
  expect(flushes).toBe(2);
  const text = eventsOf(await logOf(app, run.runId), 'message-delta').map(({ delta }) => delta);
  expect(text).toEqual(pieces);
  expect(NEVER.aborted).toBe(false);
});

test('an answer that wants to be continued is asked again without a store, too', async () => {
  const app = await appOf(stateless, [{ text: 'One.', finish: 'continue' }, { text: 'Two.' }]);
  expect(await app.run(stateless, 'go')).toMatchObject({ kind: 'completed', text: 'One.Two.' });
});
