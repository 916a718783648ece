import { AgentError } from '../base/error.ts';
import type { EmbeddingModel, EmbeddingRequest } from '../model/embedding-model.ts';
import { hold, same, soon } from './model-contract/checks.ts';
import type { Rule } from './rule.ts';

/** An embedding model to hold against its contract. */
export type EmbeddingSubject = {
  readonly model: EmbeddingModel;
  /** The server before which the model stands, for the rules that need `server`. */
  readonly server?: ScriptedEmbeddings;
  /** The key that the model was made with; the rules look for it in errors. */
  readonly apiKey?: string;
  /** The most texts that one request of the adapter holds, for the rule that needs `parts`. */
  readonly most?: number;
};

/**
 * A server that answers as it is told, in the wire format of the adapter under test. A request that was told nothing is
 * answered with `vectorOf` each of its texts, five tokens a text, by the model `scripted-embeddings`.
 */
export interface ScriptedEmbeddings {
  vectorOf(text: string): readonly number[];
  /** The answers of the next requests, in order. */
  answer(...answers: readonly ScriptedEmbedding[]): void;
  /** How many requests have come. */
  requests(): number;
  /** Resolves once the client has closed the connection of that request (from 0) before its end. */
  broken(request: number): Promise<void>;
}

export type ScriptedEmbedding =
  /** The usual vectors, the last text first where the wire says which is whose. */
  | { readonly kind: 'reversed' }
  /** The usual vectors but for the last. */
  | { readonly kind: 'incomplete' }
  /** Nothing, on an open connection. */
  | { readonly kind: 'silence' }
  /** An HTTP error with that text in the server's usual body. */
  | { readonly kind: 'refusal'; readonly status: number; readonly message: string };

const TEXTS = ['one', 'twenty two', 'three hundred'];

/**
 * Every promise of `EmbeddingModel`, as data. Rules without `needs` run against any model, a real one too.
 *
 * @example
 * for (const rule of embeddingContract) test(rule.name, async () => rule.check(await subject()));
 */
export const embeddingContract: readonly Rule<EmbeddingSubject>[] = [
  {
    name: 'every text has a vector, all of one length',
    readOnly: true,
    check: async ({ model }) => {
      const { vectors, model: named } = await embedded(model, { texts: TEXTS });
      same(vectors.length, TEXTS.length, 'vectors');
      const [length] = lengthsOf(vectors);
      hold(Number(length) > 0, `the first vector has ${String(length)} numbers`);
      same(lengthsOf(vectors), [length], 'lengths of the vectors');
      hold(named !== '', 'the model that answered has no name');
      if (model.dimensions !== undefined) same(length, model.dimensions, 'the length of a vector');
    },
  },
  {
    name: 'an aborted signal is answered with its reason',
    readOnly: true,
    check: async ({ model }) => {
      const controller = new AbortController();
      controller.abort(REASON);
      const seen = await soon(
        failureOf(model.embed({ texts: TEXTS }, controller)),
        'the rejection',
      );
      hold(seen === REASON, `expected the reason of the signal, saw ${String(seen)}`);
    },
  },
  {
    name: 'no text asks nobody',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      const server = serverOf(subject);
      const { vectors } = await embedded(subject.model, { texts: [] });
      same([vectors.length, server.requests()], [0, 0], 'vectors and requests');
    },
  },
  {
    name: 'vectors stand in the order of their texts, in whatever order they come',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      const server = serverOf(subject);
      server.answer({ kind: 'reversed' });
      for (const purpose of ['document', 'query'] as const) {
        const { vectors, usage, model } = await embedded(subject.model, { texts: TEXTS, purpose });
        same(vectors.map(rounded), TEXTS.map(server.vectorOf).map(rounded), 'the vectors');
        same(usage.inputTokens, TEXTS.length * 5, 'input tokens');
        same(model, 'scripted-embeddings', 'the model');
      }
    },
  },
  {
    name: 'more texts than one request holds are asked for in parts, and their usage is the sum',
    needs: 'parts',
    readOnly: true,
    check: async (subject) => {
      const server = serverOf(subject);
      const { most = 1 } = subject;
      const texts = Array.from({ length: most + 1 }, (_, index) => `text ${index}`);
      const { vectors, usage } = await embedded(subject.model, { texts });
      same(server.requests(), 2, 'requests');
      same(vectors.map(rounded), texts.map(server.vectorOf).map(rounded), 'the vectors');
      same(usage.inputTokens, texts.length * 5, 'input tokens');
    },
  },
  {
    name: 'a vector that is missing is an error',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      serverOf(subject).answer({ kind: 'incomplete' });
      same((await failing(subject.model)).code, 'MODEL_RESPONSE_INVALID', 'the code');
    },
  },
  {
    name: 'a refused key is not tried again, and appears in no error text',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      const { model, apiKey } = subject;
      const server = serverOf(subject);
      server.answer({ kind: 'refusal', status: 401, message: `Wrong key: ${String(apiKey)}` });
      const error = await failing(model);
      same([error.code, server.requests()], ['MODEL_AUTHENTICATION', 1], 'code and requests');
      const shown = `${error.message} ${error.mend} ${String(error.stack)} ${String(error.cause)}`;
      hold(apiKey === undefined || !shown.includes(apiKey), 'the key is in the error');
    },
  },
  {
    name: 'an abort while the server is silent rejects at once and closes the connection',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      const server = serverOf(subject);
      server.answer({ kind: 'silence' });
      const controller = new AbortController();
      const failure = failureOf(subject.model.embed({ texts: TEXTS }, controller));
      await soon(asked(server), 'the request');
      controller.abort(REASON);
      const seen = await soon(failure, 'the rejection');
      hold(seen === REASON, `expected the reason of the signal, saw ${String(seen)}`);
      await soon(server.broken(0), 'the end of the connection');
    },
  },
];

const REASON = new Error('the contract aborts');

function serverOf({ server }: EmbeddingSubject): ScriptedEmbeddings {
  if (server === undefined) throw new Error('this rule needs a scripted server');
  return server;
}

function embedded(
  model: EmbeddingModel,
  request: EmbeddingRequest,
): ReturnType<EmbeddingModel['embed']> {
  return soon(model.embed(request, new AbortController()), 'the answer');
}

async function failing(model: EmbeddingModel): Promise<AgentError> {
  const error = await failureOf(embedded(model, { texts: TEXTS }));
  if (!AgentError.is(error)) throw new Error(`expected an AgentError, saw ${String(error)}`);
  return error;
}

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'an answer',
    (reason: unknown) => reason,
  );
}

function lengthsOf(vectors: readonly Float32Array[]): readonly number[] {
  return [...new Set(vectors.map(({ length }) => length))];
}

/** A vector is kept in single precision. */
function rounded(vector: ArrayLike<number>): readonly number[] {
  return Array.from(vector, (value) => Math.fround(value));
}

async function asked(server: ScriptedEmbeddings): Promise<void> {
  while (server.requests() === 0) await new Promise<void>((resolve) => setTimeout(resolve, 1));
}
