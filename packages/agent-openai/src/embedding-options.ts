import { inputInvalid, nameProblems, type Problem } from '@hexagent/agent-core/adapter';
import { API_OPTION_NAMES, type ApiOptions, type ApiSettings, apiSettings } from './api-options.ts';

export const ENCODINGS = ['base64', 'float'] as const;

/** The most texts that one request may hold. @see https://platform.openai.com/docs/api-reference/embeddings/create */
export const MOST_TEXTS = 2048;

export type OpenAiEmbeddingOptions = ApiOptions & {
  /** Default `text-embedding-3-small`. */
  readonly model?: string;
  /** How long the vectors shall be, for models that can shorten them. A request's own word wins. */
  readonly dimensions?: number;
  /** Texts in one request; default and most 2,048. */
  readonly batchSize?: number;
  /** How vectors travel; default `base64`, a quarter of the bytes. Servers that do not know it want `float`. */
  readonly encoding?: (typeof ENCODINGS)[number];
};

export type EmbeddingSettings = ApiSettings & {
  readonly model: string;
  readonly dimensions: number | undefined;
  readonly batchSize: number;
  readonly encoding: (typeof ENCODINGS)[number];
};

const OPTION_NAMES: Readonly<Record<keyof OpenAiEmbeddingOptions, true>> = {
  model: true,
  ...API_OPTION_NAMES,
  dimensions: true,
  batchSize: true,
  encoding: true,
};

/** Checks and completes the options. Throws `INPUT_INVALID` with every problem of them. */
export function embeddingSettings(options: OpenAiEmbeddingOptions): EmbeddingSettings {
  const problems: Problem[] = [];
  problems.push(...nameProblems(options, OPTION_NAMES));
  const api = apiSettings(options, problems);
  const { model = 'text-embedding-3-small', batchSize = MOST_TEXTS, encoding = 'base64' } = options;
  const { dimensions } = options;
  if (model === '') {
    problems.push({ at: 'model', seen: 'it is empty.', mend: 'Name a model, or leave it out.' });
  }
  if (!(Number.isInteger(batchSize) && batchSize >= 1 && batchSize <= MOST_TEXTS)) {
    problems.push({ at: 'batchSize', seen: `${batchSize}.`, mend: `Use 1 to ${MOST_TEXTS}.` });
  }
  if (dimensions !== undefined && !(Number.isInteger(dimensions) && dimensions >= 1)) {
    problems.push({
      at: 'dimensions',
      seen: `${dimensions}.`,
      mend: 'Use a whole number above 0.',
    });
  }
  if (!ENCODINGS.includes(encoding)) {
    problems.push({
      at: 'encoding',
      seen: `${JSON.stringify(encoding)} is no choice.`,
      mend: `Use one of ${ENCODINGS.join(', ')}.`,
    });
  }
  if (problems.length > 0) throw inputInvalid('The options of openaiEmbeddings', problems);
  return { ...api, model, dimensions, batchSize, encoding };
}
