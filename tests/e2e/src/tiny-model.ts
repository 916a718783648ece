import { fileURLToPath } from 'node:url';
import {
  getLlama,
  LlamaCompletion,
  type LlamaContextSequence,
  type LlamaGrammar,
  LlamaLogLevel,
  NoBinaryFoundError,
} from 'node-llama-cpp';
import { pool } from './pool.ts';

const FILE = fileURLToPath(new URL('../model/tiny-tools.gguf', import.meta.url));
/** Tokens of prompt and answer together. */
const CONTEXT_SIZE = 1024;
/** Answers that are generated at once; further ones wait. */
const SEQUENCES = 2;
/** Text that never allows an end: the library lets no bias forbid it. */
const ENDLESS = 'root ::= [ -~] root';

export type CompletionOptions = {
  readonly maxTokens: number;
  readonly temperature: number;
  readonly seed: number | undefined;
  /** The answer is JSON of this schema. */
  readonly jsonSchema: object | undefined;
  /** Goes on until `maxTokens`, whatever the model says. */
  readonly ignoreEnd: boolean;
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
};

export type Completion = {
  readonly text: string;
  readonly outputTokens: number;
  readonly reason: 'stop' | 'length' | 'aborted';
};

/** The model of `model/tiny-tools.gguf`, loaded. */
export interface TinyModel {
  readonly contextSize: number;
  /** Answers that are generated at once. */
  readonly parallel: number;
  /** How many tokens a prompt has. */
  countTokens(prompt: string): number;
  complete(prompt: string, options: CompletionOptions): Promise<Completion>;
  close(): Promise<void>;
}

/** Undefined, with the reason in `why`, where llama.cpp has no binary for the platform. */
export type LoadedModel =
  | { readonly model: TinyModel }
  | { readonly model: undefined; readonly why: string };

/** Loads the model on one processor thread: with two, a busy machine of two cores is a thousand times slower. */
export async function loadTinyModel(): Promise<LoadedModel> {
  try {
    return { model: await openTinyModel() };
  } catch (error) {
    if (!(error instanceof NoBinaryFoundError)) throw error;
    const why = `node-llama-cpp has no binary for ${process.platform} ${process.arch}`;
    return { model: undefined, why };
  }
}

async function openTinyModel(): Promise<TinyModel> {
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    logLevel: LlamaLogLevel.error,
    maxThreads: 1,
  });
  const model = await llama.loadModel({ modelPath: FILE });
  const context = await model.createContext({
    contextSize: CONTEXT_SIZE,
    sequences: SEQUENCES,
    threads: 1,
  });
  const sequences = pool(Array.from({ length: SEQUENCES }, () => context.getSequence()));
  const endless = await llama.createGrammar({ grammar: ENDLESS });
  const grammarFor = async ({
    jsonSchema,
    ignoreEnd,
  }: CompletionOptions): Promise<LlamaGrammar | undefined> => {
    // Its type knows schemas that are written down; one that it cannot hold is refused when it comes.
    if (jsonSchema !== undefined)
      return llama.createGrammarForJsonSchema(jsonSchema as { readonly type: 'object' });
    return ignoreEnd ? endless : undefined;
  };

  const generate = async (
    sequence: LlamaContextSequence,
    prompt: string,
    options: CompletionOptions,
  ): Promise<Completion> => {
    const { seed, signal } = options;
    const grammar = await grammarFor(options);
    const completion = new LlamaCompletion({
      contextSequence: sequence,
      autoDisposeSequence: false,
    });
    let outputTokens = 0;
    try {
      const { response, metadata } = await completion.generateCompletionWithMeta(
        model.tokenize(prompt, true),
        {
          maxTokens: options.maxTokens,
          temperature: options.temperature,
          signal,
          stopOnAbortSignal: true,
          onToken: (tokens) => {
            outputTokens += tokens.length;
          },
          onTextChunk: options.onText,
          ...(seed === undefined ? {} : { seed }),
          ...(grammar === undefined ? {} : { grammar }),
        },
      );
      const reason = metadata.stopReason === 'maxTokens' ? 'length' : 'stop';
      return { text: response, outputTokens, reason: signal.aborted ? 'aborted' : reason };
    } finally {
      completion.dispose();
      await sequence.clearHistory();
    }
  };

  return {
    contextSize: CONTEXT_SIZE,
    parallel: SEQUENCES,
    countTokens: (prompt) => model.tokenize(prompt, true).length,
    complete: (prompt, options) =>
      sequences.use((sequence) =>
        options.signal.aborted
          ? Promise.resolve({ text: '', outputTokens: 0, reason: 'aborted' })
          : generate(sequence, prompt, options),
      ),
    close: () => llama.dispose(),
  };
}
