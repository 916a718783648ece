import { afterEach, expect, test, vi } from 'vitest';
import { linked } from '../base/abort.ts';
import {
  modelAuthentication,
  modelFailed,
  modelRequestInvalid,
  modelResponseInvalid,
  modelStreamTruncated,
  toolUnknown,
} from '../base/error-catalog.ts';
import type { AgentModel, ModelEvent, ModelRequest } from '../model/agent-model.ts';
import { textOf } from '../vocabulary/message.ts';
import { toolCallAssembler } from '../wire/tool-call-assembler.ts';
import type {
  ModelSubject,
  ScriptedAnswer,
  ScriptedServer,
} from './model-contract/model-subject.ts';
import { modelContract } from './model-contract.ts';

/** What a broken adapter does wrong. */
type Fault =
  | 'gives nothing'
  | 'ends without finish'
  | 'gives an empty batch'
  | 'gives finish twice'
  | 'joins the pieces'
  | 'throws a code of another kind'
  | 'adds usage up'
  | 'keeps the names of the wire'
  | 'leaves a gap in the indexes'
  | 'sends a delta for a call that is not open'
  | 'runs cut arguments'
  | 'mixes streams'
  | 'counts nothing'
  | 'counts the same for all'
  | 'throws plain errors'
  | 'throws another code'
  | 'has no mend'
  | 'takes a truncated answer for good'
  | 'says a break is final'
  | 'calls a cut a failure'
  | 'ends well after a failure'
  | 'hides the words of a failure'
  | 'leaves its listener after an error'
  | 'leaves its listener after an abort'
  | 'takes silence for the end'
  | 'shows the key'
  | 'tries a refusal again'
  | 'hides the words of the server'
  | 'does not look at an aborted signal'
  | 'wraps the reason of an abort'
  | 'goes on after an abort'
  | 'keeps the connection'
  | 'leaves its listener'
  | 'gives a batch after the return'
  | 'starts again after an error';

const KEY = 'sk-fake';
const BREAK: ScriptedAnswer = { kind: 'stream', text: ['par'], ending: 'reset' };
const GREETING: ScriptedAnswer = { kind: 'stream', text: ['Hel', 'lo'] };

/** A model and its server in one, without a wire between, and with one fault or none; one batch holds what there is, or one event. */
function subject(fault?: Fault, isJoined = false): ModelSubject {
  const queue: ScriptedAnswer[] = [];
  const gone: Promise<void>[] = [];
  let shared = '';

  const server: ScriptedServer = {
    answer: (...answers) => {
      queue.push(...answers);
    },
    requests: () => gone.length,
    broken: async (request) => {
      while (gone.length <= request) await new Promise<void>((resolve) => setTimeout(resolve, 0));
      await gone[request];
    },
  };

  function stream(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncIterator<readonly ModelEvent[]> {
    const link = linked(signal);
    if (fault === 'leaves its listener after an abort')
      signal.addEventListener('abort', () => undefined);
    let batches: (readonly ModelEvent[])[] | undefined;
    let after: 'end' | 'silence' | { readonly error: Error } = 'end';
    let isOver = false;
    let close = (): void => undefined;

    const open = (): void => {
      const answer = queue.shift() ?? (fault === 'says a break is final' ? BREAK : GREETING);
      gone.push(
        new Promise((resolve) => {
          close = fault === 'keeps the connection' ? () => undefined : resolve;
        }),
      );
      if (fault === 'tries a refusal again' && answer.kind === 'refusal')
        gone.push(Promise.resolve());
      const played = play(answer, request);
      batches = isJoined ? [played.batches.flat()] : [...played.batches];
      after = played.after;
    };
    const leave = (failed = false): void => {
      isOver = true;
      close();
      if (failed && fault === 'leaves its listener after an error') return;
      if (fault !== 'leaves its listener') link.release();
    };
    const silence = (): Promise<never> =>
      new Promise((_, reject) => {
        link.signal.addEventListener('abort', () => reject(link.signal.reason), { once: true });
      });

    return {
      async next() {
        if (isOver) return { done: true, value: undefined };
        try {
          if (fault !== 'does not look at an aborted signal' || batches !== undefined) {
            if (fault !== 'goes on after an abort') signal.throwIfAborted();
          }
          if (batches === undefined) open();
          const batch = batches?.shift();
          if (batch !== undefined) {
            if (batch.at(-1)?.type === 'finish' && batches?.length === 0) leave();
            return { done: false, value: batch };
          }
          if (after === 'silence') await silence();
          if (typeof after === 'object') throw after.error;
          leave();
          return { done: true, value: undefined };
        } catch (error) {
          if (isOver) {
            if (fault !== 'gives a batch after the return') return { done: true, value: undefined };
            return { done: false, value: [{ type: 'text', text: 'late' }] };
          }
          leave(true);
          if (fault === 'starts again after an error') {
            isOver = false;
            batches = [[{ type: 'text', text: 'again' }]];
          }
          if (fault === 'wraps the reason of an abort' && signal.aborted)
            throw new Error('wrapped');
          throw error;
        }
      },
      async return() {
        leave();
        link.abort(new Error('left'));
        return { done: true, value: undefined };
      },
    };
  }

  function play(answer: ScriptedAnswer, request: ModelRequest) {
    if (answer.kind === 'refusal') return { batches: [], after: { error: refusal(answer) } };
    if (answer.kind === 'echo') {
      const text = textOf(request.messages.at(-1)?.parts ?? []);
      shared += text;
      const seen = fault === 'mixes streams' ? shared : text;
      return played(
        [...seen].map((character) => [{ type: 'text', text: character }]),
        'stop',
      );
    }
    const batches: ModelEvent[][] = [];
    if (answer.reasoning !== undefined)
      batches.push([{ type: 'reasoning', text: answer.reasoning }]);
    const pieces = answer.text ?? [];
    const texts = fault === 'joins the pieces' ? [pieces.join('')] : pieces;
    batches.push(
      ...texts.filter((text) => text !== '').map((text) => [{ type: 'text', text } as const]),
    );
    const calls: ModelEvent[] = [];
    const assembler = toolCallAssembler({ toName: (name) => name });
    answer.calls?.forEach(({ tool, arguments: text }, index) => {
      const name = request.tools[tool]?.name ?? '';
      const wire = fault === 'keeps the names of the wire' ? name.replace('.', '_') : name;
      assembler.accept({ index, name: wire, arguments: text }, calls);
    });
    const said = answer.calls === undefined ? 'stop' : 'tool-calls';
    const { reason } = assembler.finish(said, calls);
    if (calls.length > 0) batches.push(calls.map(misplaced));
    if (answer.ending === 'silence' && fault === 'takes silence for the end')
      return { batches: [], after: 'end' as const };
    if (answer.ending === 'silence') return { batches, after: 'silence' as const };
    if (answer.ending === 'error') return broken(batches, answer.message ?? 'it failed');
    if (answer.ending === 'end' || answer.ending === 'reset') return cut(batches);
    const { usage = {} } = answer;
    const total = (usage.inputTokens ?? 0) * (fault === 'adds usage up' ? 3 : 1);
    const seen = { ...usage, ...(usage.inputTokens === undefined ? {} : { inputTokens: total }) };
    return played(batches, fault === 'runs cut arguments' ? said : reason, seen);
  }

  function misplaced(event: ModelEvent): ModelEvent {
    if (event.type === 'tool-call-start' && fault === 'leaves a gap in the indexes') {
      return { ...event, index: event.index + 1 };
    }
    if (event.type === 'tool-call-delta' && fault === 'sends a delta for a call that is not open') {
      return { ...event, index: 7 };
    }
    return event;
  }

  function played(
    batches: readonly (readonly ModelEvent[])[],
    reason: Extract<ModelEvent, { type: 'finish' }>['reason'],
    usage = {},
  ) {
    const finish = { type: 'finish', reason, usage, model: 'fake' } as const;
    if (fault === 'gives nothing') return { batches: [], after: 'end' as const };
    if (fault === 'ends without finish') return { batches, after: 'end' as const };
    if (fault === 'gives an empty batch')
      return { batches: [[], ...batches, [finish]], after: 'end' as const };
    if (fault === 'gives finish twice')
      return { batches: [...batches, [finish], [finish]], after: 'end' as const };
    return { batches: [...batches, [finish]], after: 'end' as const };
  }

  function cut(batches: readonly (readonly ModelEvent[])[]) {
    if (fault === 'takes a truncated answer for good') return played(batches, 'stop');
    if (batches.length === 0) {
      return { batches, after: { error: modelResponseInvalid({ reason: 'empty' }) } };
    }
    const retryable = fault !== 'says a break is final';
    const make = fault === 'calls a cut a failure' ? modelFailed : modelStreamTruncated;
    return { batches, after: { error: make({ reason: 'cut', retryable }) } };
  }

  function broken(batches: readonly (readonly ModelEvent[])[], message: string) {
    if (fault === 'ends well after a failure') return played(batches, 'stop');
    const reason = fault === 'hides the words of a failure' ? 'it failed' : message;
    return { batches, after: { error: modelFailed({ reason }) } };
  }

  function refusal({ status, message }: Extract<ScriptedAnswer, { kind: 'refusal' }>): Error {
    if (fault === 'throws plain errors') return new Error(message);
    if (fault === 'throws a code of another kind') return toolUnknown('x', []);
    const reason = fault === 'shows the key' ? message : message.replace(KEY, '***');
    const words = fault === 'hides the words of the server' ? 'refused' : reason;
    const failure = { reason: words, ...(fault === 'has no mend' ? { mend: '' } : {}) };
    const isKey = (status === 401) !== (fault === 'throws another code');
    return isKey ? modelAuthentication(failure) : modelRequestInvalid(failure);
  }

  const model: AgentModel = {
    id: 'fake',
    capabilities: () => ({
      tools: true,
      reasoning: true,
      structuredOutput: 'none',
      inputModalities: ['text'],
    }),
    stream: (request, { signal }) => ({ [Symbol.asyncIterator]: () => stream(request, signal) }),
    countTokens: async ({ messages }) => {
      if (fault === 'counts nothing') return 0;
      if (fault === 'counts the same for all') return 1;
      return textOf(messages.flatMap(({ parts }) => parts)).length;
    },
  };
  return { model, server, apiKey: KEY };
}

for (const rule of modelContract) {
  test(`a model that keeps the contract passes: ${rule.name}`, () => rule.check(subject()));
}

test.each([
  ['passes', undefined],
  ['is caught where it wraps the reason of the abort', 'wraps the reason of an abort'],
] as const)(
  'a model that waits, with all that has come in one batch, and is aborted then %s',
  async (_, fault) => {
    const rule = modelContract.find(({ name }) => name.startsWith('an abort at any event'));
    const checked = rule?.check(subject(fault, true));
    if (fault === undefined) await checked;
    else await expect(checked).rejects.toThrow('the reason of the signal');
  },
);

test.each<[Fault, RegExp]>([
  ['says a break is final', /the last event of the last batch/],
  ['gives nothing', /the last event of the last batch/],
  ['throws a code of another kind', /a refused request/],
  ['ends without finish', /the last event of the last batch/],
  ['gives an empty batch', /the last event of the last batch/],
  ['gives finish twice', /the last event of the last batch/],
  ['joins the pieces', /text and reasoning/],
  ['adds usage up', /usage is what/],
  ['keeps the names of the wire', /tool names go out/],
  ['leaves a gap in the indexes', /parallel calls/],
  ['sends a delta for a call that is not open', /parallel calls/],
  ['runs cut arguments', /arguments that were cut/],
  ['mixes streams', /fifty streams/],
  ['counts nothing', /a longer request/],
  ['counts the same for all', /a longer request/],
  ['throws plain errors', /a refused request/],
  ['throws another code', /a refused key/],
  ['has no mend', /a refused request/],
  ['takes a truncated answer for good', /an empty stream/],
  ['takes a truncated answer for good', /ends without a reason/],
  ['says a break is final', /a connection that breaks/],
  ['calls a cut a failure', /ends without a reason/],
  ['ends well after a failure', /a failure inside the stream/],
  ['hides the words of a failure', /a failure inside the stream/],
  ['ends well after a failure', /no listener stays on the signal after an error/],
  ['leaves its listener after an error', /no listener stays on the signal after an error/],
  ['leaves its listener after an abort', /an abort at any event/],
  ['wraps the reason of an abort', /an abort at any event/],
  ['takes silence for the end', /an abort at any event/],
  ['goes on after an abort', /an abort at any event/],
  ['starts again after an error', /an abort at any event/],
  ['shows the key', /a refused key/],
  ['tries a refusal again', /a refused request/],
  ['hides the words of the server', /a refused request/],
  ['does not look at an aborted signal', /an aborted signal/],
  ['wraps the reason of an abort', /an abort in the middle/],
  ['goes on after an abort', /an abort in the middle/],
  ['leaves its listener', /no listener stays/],
  ['gives a batch after the return', /leaving early/],
  ['starts again after an error', /while the server is silent/],
])('a model that %s is caught', async (fault, name) => {
  const rule = modelContract.find((candidate) => name.test(candidate.name));
  await expect(rule?.check(subject(fault))).rejects.toThrow(Error);
});

afterEach(() => {
  vi.useRealTimers();
});

test('a model that keeps its connection is caught, after a while', async () => {
  vi.useFakeTimers();
  const rule = modelContract.find(({ name }) => name.includes('while the server is silent'));
  const checked = expect(rule?.check(subject('keeps the connection'))).rejects.toThrow(
    'the end of the connection did not happen',
  );
  await vi.runAllTimersAsync();
  await checked;
});

test('a model that gives its whole answer in one batch passes', async () => {
  const { model, ...rest } = subject();
  const whole: AgentModel = {
    ...model,
    stream: (request, stop) => ({
      async *[Symbol.asyncIterator]() {
        const batch: ModelEvent[] = [];
        for await (const events of model.stream(request, stop)) batch.push(...events);
        yield batch;
      },
    }),
  };
  const rule = modelContract.find(({ name }) => name.startsWith('an abort in the middle'));
  await rule?.check({ model: whole, ...rest });
});

test('without a key there is none to look for', async () => {
  const { apiKey: _, ...keyless } = subject();
  const rule = modelContract.find(({ name }) => name.startsWith('a refused key'));
  await rule?.check(keyless);
});

test('a rule that needs a server says so', async () => {
  const { model } = subject();
  const rule = modelContract.find(({ needs }) => needs === 'server');
  await expect(rule?.check({ model })).rejects.toThrow('scripted server');
});

test('rules without needs stand on the model alone', async () => {
  const { model } = subject();
  for (const rule of modelContract) if (rule.needs === undefined) await rule.check({ model });
});
