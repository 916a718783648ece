import { expect, test } from 'vitest';
import { AgentError } from '../base/error.ts';
import { modelOverloaded } from '../base/error-catalog.ts';
import { callIdOf } from '../base/ids.ts';
import type { JsonValue } from '../base/json.ts';
import { type ScriptStep, scripted } from '../testing/scripted-model.ts';
import type { AgentModel, ModelEvent, ModelRequest } from './agent-model.ts';
import type { Cassette } from './cassette.ts';
import { recordedModel } from './record.ts';
import { replayedModel, withCassette } from './replay.ts';

const asking = (text: string, more: Partial<ModelRequest> = {}): ModelRequest => ({
  messages: [{ role: 'user', origin: 'user', parts: [{ type: 'text', text }] }],
  tools: [],
  toolChoice: 'none',
  requestId: `request ${text}`,
  ...more,
});

async function eventsOf(
  model: AgentModel,
  request: ModelRequest,
  signal = new AbortController().signal,
) {
  const events: ModelEvent[] = [];
  for await (const batch of model.stream(request, { signal })) events.push(...batch);
  return events;
}

async function recorded(
  steps: readonly ScriptStep[],
  requests: readonly ModelRequest[],
  options = {},
) {
  const model = recordedModel(scripted(steps), options);
  for (const request of requests) await eventsOf(model, request).catch(() => undefined);
  // What is kept is JSON: a test keeps it in a file.
  return JSON.parse(JSON.stringify(model.cassette())) as Cassette;
}

test('what was recorded is played again, in whatever order it is asked for', async () => {
  const steps = [{ text: ['Hel', 'lo'] }, { text: 'Bye', reasoning: 'Hm.' }];
  const tape = await recorded(steps, [asking('a'), asking('b', { tenantId: 't1' })]);
  const model = replayedModel(tape);
  expect(model.id).toBe('scripted');
  expect(model.capabilities()).toMatchObject({ tools: true });
  expect(model.unplayed).toBe(2);
  expect(await eventsOf(model, asking('b', { requestId: 'other', tenantId: 't2' }))).toMatchObject([
    { type: 'reasoning', text: 'Hm.' },
    { text: 'Bye' },
    { type: 'finish' },
  ]);
  expect(await eventsOf(model, asking('a'))).toMatchObject([{ text: 'Hel' }, { text: 'lo' }, {}]);
  expect(model.unplayed).toBe(0);
});

test('a failure is played with its code, behind what came before it', async () => {
  const error = modelOverloaded({ reason: 'key-1 is busy', retryAfterMs: 7 });
  const tape = await recorded([{ text: 'par', error }], [asking('a')], { secrets: ['key-1'] });
  const model = replayedModel(tape, { secrets: ['key-1'] });
  const seen: ModelEvent[] = [];
  const reading = async (): Promise<void> => {
    for await (const batch of model.stream(asking('a'), new AbortController())) seen.push(...batch);
  };
  await expect(reading()).rejects.toMatchObject({
    code: 'MODEL_OVERLOADED',
    message: '[redacted] is busy',
    retryable: true,
    retryAfterMs: 7,
  });
  expect(seen).toMatchObject([{ text: 'par' }]);
  const [first] = tape.recordings;
  if (first?.error === undefined) throw new Error('no error was recorded');
  const plain = modelOverloaded({ reason: 'busy' });
  const other = replayedModel(await recorded([{ error: plain }], [asking('a')]));
  expect(other.capabilities({ model: 'unasked' })).toEqual(other.capabilities());
  await expect(eventsOf(other, asking('a'))).rejects.toMatchObject({ retryAfterMs: undefined });
  const strange = { ...tape, recordings: [{ ...first, error: { ...first.error, code: 'NEW' } }] };
  await expect(
    eventsOf(replayedModel(strange, { secrets: ['key-1'] }), asking('a')),
  ).rejects.toMatchObject({ code: 'MODEL_FAILED' });
});

test('what does not come to its end is no recording', async () => {
  const model = recordedModel(
    scripted([
      { text: ['a', 'b'] },
      { text: ['a', 'b'] },
      { error: new Error('a bug') },
      { text: 'ok' },
    ]),
  );
  for await (const _ of model.stream(asking('left'), new AbortController())) break;
  const stop = new AbortController();
  const stream = model.stream(asking('aborted'), stop)[Symbol.asyncIterator]();
  await stream.next();
  stop.abort(new Error('stopped'));
  await expect(stream.next()).rejects.toThrow('stopped');
  await expect(eventsOf(model, asking('bug'))).rejects.toThrow('a bug');
  await eventsOf(model, asking('whole'));
  expect(model.cassette().recordings.length).toBe(1);
  await model.saved();
});

test('ids of calls do not matter, what was called does', async () => {
  const withCall = (id: string, q: string): ModelRequest =>
    asking('a', {
      messages: [
        {
          role: 'assistant',
          origin: 'model',
          parts: [{ type: 'tool-call', callId: callIdOf(id), toolName: 'find', input: { q } }],
        },
        {
          role: 'tool',
          origin: 'tool',
          parts: [
            {
              type: 'tool-result',
              callId: callIdOf(id),
              outcome: 'ok',
              content: [{ type: 'data', data: [1, null] }],
            },
          ],
        },
      ],
    });
  const tape = await recorded([{ text: 'ok' }], [withCall('r1.1.0', 'x')]);
  await eventsOf(replayedModel(tape), withCall('r2.1.0', 'x'));
  await expect(eventsOf(replayedModel(tape), withCall('r2.1.0', 'y'))).rejects.toThrow(
    'messages[0].parts[0].input.q was "x" and is "y"',
  );
});

test('a request that is not there is an error that says what differs from the nearest one', async () => {
  const tape = await recorded(
    [{ text: 'a' }, { text: 'b' }],
    [asking('a', { sampling: { temperature: 0 } }), asking('x'.repeat(100))],
  );
  const model = replayedModel(tape);
  const failure = await eventsOf(
    model,
    asking('b', { sampling: { temperature: 1, topP: 1 } }),
  ).catch((error: unknown) => error);
  expect(AgentError.is(failure) && failure.code).toBe('MODEL_NOT_RECORDED');
  expect(String(failure)).toContain(
    'From the nearest one it differs in 3 places: messages[0].parts[0].text was "a" and is "b"; sampling.temperature was 0 and is 1; sampling.topP was absent and is 1.',
  );
  await expect(eventsOf(model, asking('b'))).rejects.toThrow(/was "x{79}… and is "b"/);
  await eventsOf(model, asking('a', { sampling: { temperature: 0 } }));
  await expect(eventsOf(model, asking('a', { sampling: { temperature: 0 } }))).rejects.toThrow(
    'has this request 1 times, and all have been played',
  );
  await eventsOf(model, asking('x'.repeat(100)));
  await expect(eventsOf(model, asking('b'))).rejects.toThrow('it differs in');
  await expect(eventsOf(replayedModel({ ...tape, recordings: [] }), asking('b'))).rejects.toThrow(
    'The cassette is empty.',
  );
  expect(() => replayedModel({ ...tape, format: 2 as never })).toThrow('this version plays 1');
});

test('secrets are taken out of requests and answers, also across two pieces, and by the names of fields', async () => {
  const secrets = ['', 'sk-123', 'sk-123-long'];
  const data: JsonValue = {
    apiKey: 'k',
    nested: [{ 'X-Token': 't', pin: 1, none: null }],
    password: null,
  };
  const request = asking('my key is sk-123-long', {
    messages: [
      {
        role: 'user',
        origin: 'user',
        parts: [
          { type: 'text', text: 'my key is sk-123-long' },
          { type: 'data', data },
        ],
      },
    ],
    tools: [
      {
        name: 'log.in',
        description: 'Logs in.',
        parameters: { properties: { password: { type: 'string' } } },
      },
    ],
  });
  const model: AgentModel = {
    ...scripted([]),
    async *stream() {
      yield [{ type: 'text', text: 'It is sk-' }];
      yield [
        { type: 'text', text: '123.' },
        { type: 'reasoning', text: 'no secret' },
      ];
      yield [
        { type: 'tool-call-start', index: 0, name: 'log.in' },
        { type: 'tool-call-delta', index: 0, delta: '{"password":' },
        { type: 'tool-call-start', index: 1, name: 'log.in' },
        { type: 'tool-call-delta', index: 1, delta: '{"user": "u"}' },
        { type: 'tool-call-start', index: 2, name: 'log.in' },
        { type: 'tool-call-delta', index: 2, delta: '{"pin":"sk-123"' },
      ];
      yield [{ type: 'tool-call-delta', index: 0, delta: '"p","pin":2}' }];
      yield [
        { type: 'provider-state', state: { provider: 'p', value: { note: 'sk-123', count: 1 } } },
        { type: 'finish', reason: 'tool-calls', usage: {}, model: 'm' },
      ];
    },
  };
  const keys = ['PIN'];
  const recorder = recordedModel(model, { secrets, keys });
  await eventsOf(recorder, request);
  const kept = JSON.stringify(recorder.cassette());
  expect(kept).not.toContain('sk-123');
  const [recording] = recorder.cassette().recordings;
  expect(recording?.request).toMatchObject({
    messages: [
      {
        parts: [
          { text: 'my key is [redacted]' },
          {
            data: {
              apiKey: '[redacted]',
              nested: [{ 'X-Token': '[redacted]', pin: '[redacted]', none: null }],
              password: null,
            },
          },
        ],
      },
    ],
    tools: [{ parameters: { properties: { password: { type: 'string' } } } }],
  });
  expect(recording?.batches).toEqual([
    [{ type: 'text', text: 'It is [redacted].' }],
    [{ type: 'reasoning', text: 'no secret' }],
    [
      { type: 'tool-call-start', index: 0, name: 'log.in' },
      { type: 'tool-call-delta', index: 0, delta: '{"password":"[redacted]","pin":"[redacted]"}' },
      { type: 'tool-call-start', index: 1, name: 'log.in' },
      { type: 'tool-call-delta', index: 1, delta: '{"user": "u"}' },
      { type: 'tool-call-start', index: 2, name: 'log.in' },
      { type: 'tool-call-delta', index: 2, delta: '{"pin":"[redacted]"' },
    ],
    [
      { type: 'provider-state', state: { provider: 'p', value: { note: '[redacted]', count: 1 } } },
      { type: 'finish', reason: 'tool-calls', usage: {}, model: 'm' },
    ],
  ]);
  expect(
    await eventsOf(replayedModel(recorder.cassette(), { secrets, keys }), request),
  ).toHaveLength(10);
});

test('an abort in the middle of what is played is answered with its reason', async () => {
  const tape = await recorded([{ text: ['a', 'b'] }], [asking('a')]);
  const stop = new AbortController();
  const stream = replayedModel(tape).stream(asking('a'), stop)[Symbol.asyncIterator]();
  await stream.next();
  stop.abort(new Error('stopped'));
  await expect(stream.next()).rejects.toThrow('stopped');
  await expect(eventsOf(replayedModel(tape), asking('a'), stop.signal)).rejects.toThrow('stopped');
});

test('a store without a cassette is recorded into, one with a cassette is played', async () => {
  let kept: Cassette | undefined;
  const store = {
    load: async () => kept,
    save: async (cassette: Cassette) => {
      kept = cassette;
    },
  };
  const live = scripted([{ text: 'once' }]);
  const first = await withCassette(store, () => live);
  first.capabilities({ model: 'm' });
  await eventsOf(first, asking('a'));
  if ('saved' in first) await first.saved();
  const second = await withCassette(store, () => {
    throw new Error('nobody is asked');
  });
  expect(second.capabilities({ model: 'm' })).toEqual(live.capabilities());
  expect(await eventsOf(second, asking('a'))).toMatchObject([{ text: 'once' }, {}]);
});

test('what goes wrong with saving is told to who asks', async () => {
  const model = recordedModel(scripted([{ text: 'a' }]), {
    save: () => Promise.reject(new Error('disk full')),
  });
  await eventsOf(model, asking('a'));
  await expect(model.saved()).rejects.toThrow('disk full');
});
