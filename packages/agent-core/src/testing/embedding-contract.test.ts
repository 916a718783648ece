import { afterEach, expect, test, vi } from 'vitest';
import { untilAborted } from '../base/abort.ts';
import { modelAuthentication, modelResponseInvalid } from '../base/error-catalog.ts';
import type { EmbeddingModel } from '../model/embedding-model.ts';
import {
  type EmbeddingSubject,
  embeddingContract,
  type ScriptedEmbedding,
  type ScriptedEmbeddings,
} from './embedding-contract.ts';

type Fault =
  | 'asks for nothing'
  | 'keeps the order of the wire'
  | 'lets a vector be missing'
  | 'gives vectors of two lengths'
  | 'says another length'
  | 'asks for everything at once'
  | 'counts the first part only'
  | 'shows the key'
  | 'throws plain errors'
  | 'goes on after an abort'
  | 'keeps the connection';

const KEY = 'sk-fake';

/** A model and its server in one, with one fault or none; two texts a request. */
function subject(fault?: Fault): EmbeddingSubject {
  const queue: ScriptedEmbedding[] = [];
  const gone: Promise<void>[] = [];
  const server: ScriptedEmbeddings = {
    vectorOf: (text) => [text.length, text.charCodeAt(0) / 7],
    answer: (...answers) => {
      queue.push(...answers);
    },
    requests: () => gone.length,
    broken: async (request) => gone[request],
  };
  const most = fault === 'asks for everything at once' ? 100 : 3;

  const ask = async (
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly number[][]> => {
    const answer = queue.shift();
    let close = (): void => undefined;
    gone.push(
      new Promise((resolve) => {
        close = resolve;
      }),
    );
    if (answer?.kind === 'refusal') {
      if (fault === 'throws plain errors') throw new Error('no');
      const reason = fault === 'shows the key' ? answer.message : 'wrong key';
      throw modelAuthentication({ reason });
    }
    if (answer?.kind === 'silence') {
      try {
        await untilAborted(new Promise(() => undefined), signal);
      } finally {
        if (fault !== 'keeps the connection') close();
      }
    }
    const vectors = texts.map((text) => [...server.vectorOf(text)]);
    if (answer?.kind === 'incomplete' && fault !== 'lets a vector be missing')
      throw modelResponseInvalid({ reason: 'a vector is missing' });
    if (answer?.kind === 'reversed' && fault === 'keeps the order of the wire') vectors.reverse();
    if (fault === 'gives vectors of two lengths') vectors[0]?.push(0);
    return vectors;
  };

  const model: EmbeddingModel = {
    id: 'fake',
    ...(fault === 'says another length' ? { dimensions: 3 } : { dimensions: 2 }),
    embed: async ({ texts }, { signal }) => {
      if (fault !== 'goes on after an abort') signal.throwIfAborted();
      const vectors: Float32Array[] = [];
      let parts = fault === 'asks for nothing' && texts.length === 0 ? 1 : 0;
      if (parts === 1) await ask([], signal);
      for (let at = 0; at < texts.length; at += most, parts += 1)
        for (const vector of await ask(texts.slice(at, at + most), signal))
          vectors.push(Float32Array.from(vector));
      const counted =
        fault === 'counts the first part only' ? Math.min(most, texts.length) : texts.length;
      return { vectors, usage: { inputTokens: counted * 5 }, model: 'scripted-embeddings' };
    },
  };
  return { model, server, apiKey: KEY, most: 3 };
}

for (const rule of embeddingContract)
  test(`a model that keeps the contract passes: ${rule.name}`, () => rule.check(subject()));

test.each<[Fault, RegExp]>([
  ['asks for nothing', /no text/],
  ['keeps the order of the wire', /in the order/],
  ['lets a vector be missing', /is missing/],
  ['gives vectors of two lengths', /every text/],
  ['says another length', /every text/],
  ['asks for everything at once', /in parts/],
  ['counts the first part only', /in parts/],
  ['shows the key', /a refused key/],
  ['throws plain errors', /a refused key/],
  ['goes on after an abort', /an aborted signal/],
])('a model that %s is caught', async (fault, name) => {
  const rule = embeddingContract.find((candidate) => name.test(candidate.name));
  await expect(rule?.check(subject(fault))).rejects.toThrow(Error);
});

afterEach(() => {
  vi.useRealTimers();
});

test('a model that keeps its connection is caught, after a while', async () => {
  vi.useFakeTimers();
  const rule = embeddingContract.find(({ name }) => name.includes('silent'));
  const checked = expect(rule?.check(subject('keeps the connection'))).rejects.toThrow(
    'the end of the connection did not happen',
  );
  await vi.runAllTimersAsync();
  await checked;
});

test('rules without needs stand on the model alone, and the others say what they need', async () => {
  const { model } = subject();
  const { dimensions: _, ...unmeasured } = model;
  for (const rule of embeddingContract) {
    if (rule.needs === undefined) await rule.check({ model: unmeasured });
    else await expect(rule.check({ model })).rejects.toThrow('this rule needs a scripted server');
  }
});

test('without a key there is none to look for, and one text a request is the least', async () => {
  const { model, server } = subject();
  const rule = embeddingContract.find(({ name }) => name.startsWith('a refused key'));
  if (server !== undefined) await rule?.check({ model, server });
  const parts = embeddingContract.find(({ needs }) => needs === 'parts');
  const alone = subject();
  if (alone.server !== undefined)
    await expect(parts?.check({ model: alone.model, server: alone.server })).rejects.toThrow(
      'requests',
    );
});
