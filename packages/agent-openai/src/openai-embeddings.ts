import type {
  EmbeddingAnswer,
  EmbeddingModel,
  EmbeddingRequest,
  Stop,
  Usage,
} from '@hexagent/agent-core';
import { addUsage } from '@hexagent/agent-core';
import {
  isJsonObject,
  type JsonValue,
  linked,
  modelRequestInvalid,
  modelResponseInvalid,
  retrying,
  withinTotalLimit,
} from '@hexagent/agent-core/adapter';
import { type ApiConnection, apiConnection } from './api-connection.ts';
import {
  type EmbeddingSettings,
  embeddingSettings,
  type OpenAiEmbeddingOptions,
} from './embedding-options.ts';
import { textBatches } from './text-batches.ts';
import { wireUsage } from './wire-usage.ts';

/** How long the vectors of OpenAI's own models are. */
const DIMENSIONS: Readonly<Record<string, number>> = {
  'text-embedding-3-small': 1536,
  'text-embedding-3-large': 3072,
  'text-embedding-ada-002': 1536,
};

type Part = {
  readonly vectors: readonly Float32Array[];
  readonly usage: Usage;
  readonly model: string | undefined;
};

/**
 * OpenAI's embeddings as an `EmbeddingModel`. More texts than one request takes go out one request after another;
 * each is tried again by itself.
 *
 * Throws `INPUT_INVALID` with every problem of the options; connects to nothing before it is asked.
 */
export function openaiEmbeddings(options: OpenAiEmbeddingOptions = {}): EmbeddingModel {
  const settings = embeddingSettings(options);
  const connection = apiConnection(settings);
  const { model, clock, random, retries, timeouts } = settings;
  const dimensions = settings.dimensions ?? DIMENSIONS[model];
  return {
    id: settings.id,
    ...(dimensions === undefined ? {} : { dimensions }),
    async embed(request, { signal }) {
      signal.throwIfAborted();
      refuseEmpty(request.texts);
      const work = async (stop: Stop): Promise<EmbeddingAnswer> => {
        const vectors: Float32Array[] = [];
        let usage: Usage = {};
        let answered: string | undefined;
        for (const texts of textBatches(request.texts, settings.batchSize)) {
          const part = await retrying(
            () => embedded({ ...request, texts }, { settings, connection, stop }),
            { retries, clock, random, signal: stop.signal },
          );
          vectors.push(...part.vectors);
          usage = addUsage(usage, part.usage);
          answered = part.model ?? answered;
        }
        return { vectors, usage, model: answered ?? model };
      };
      const { totalMs } = timeouts;
      return withinTotalLimit(work, { signal }, { totalMs, clock, at: settings.baseUrl });
    },
  };
}

/** The provider refuses a whole request for one empty text; said before anything is paid for. */
function refuseEmpty(texts: readonly string[]): void {
  const index = texts.indexOf('');
  if (index < 0) return;
  throw modelRequestInvalid({
    reason: `texts[${index}] is empty`,
    mend: 'Leave empty texts out: they have no meaning to be near to.',
  });
}

async function embedded(
  { texts, dimensions }: EmbeddingRequest,
  {
    settings,
    connection,
    stop,
  }: {
    readonly settings: EmbeddingSettings;
    readonly connection: ApiConnection;
    readonly stop: Stop;
  },
): Promise<Part> {
  const { model, encoding } = settings;
  const length = dimensions ?? settings.dimensions;
  const link = linked(stop.signal);
  try {
    const { value, context } = await connection.json(
      {
        path: '/embeddings',
        send: (client, options) =>
          client.embeddings.create(
            {
              model,
              input: [...texts],
              encoding_format: encoding,
              ...(length === undefined ? {} : { dimensions: length }),
            },
            options,
          ),
      },
      link,
    );
    const vectors = isJsonObject(value) ? vectorsOf(value['data'], texts.length) : undefined;
    if (!isJsonObject(value) || vectors === undefined) {
      throw modelResponseInvalid({
        at: context.at,
        reason: `it did not answer with ${texts.length} vectors of one length`,
      });
    }
    const { usage, model: answered } = value;
    return {
      vectors,
      usage: wireUsage(usage),
      model: typeof answered === 'string' ? answered : undefined,
    };
  } finally {
    link.release();
  }
}

/** The vectors by the index that each names; undefined unless there is exactly one for each text. */
function vectorsOf(data: JsonValue | undefined, count: number): Float32Array[] | undefined {
  if (!Array.isArray(data) || data.length !== count) return undefined;
  const byIndex = new Map<number, Float32Array>();
  data.forEach((entry: JsonValue, place) => {
    if (!isJsonObject(entry)) return;
    const { index, embedding } = entry;
    const vector = vectorOf(embedding);
    if (vector !== undefined) byIndex.set(typeof index === 'number' ? index : place, vector);
  });
  const vectors = Array.from({ length: count }, (_, index) => byIndex.get(index));
  const [first] = vectors;
  const isWhole = vectors.every(
    (vector): vector is Float32Array => vector !== undefined && vector.length === first?.length,
  );
  return isWhole ? vectors.flatMap((vector) => vector ?? []) : undefined;
}

/** A vector as numbers, or as the bytes of little-endian floats in base64: servers send either, whatever was asked. */
function vectorOf(embedding: JsonValue | undefined): Float32Array | undefined {
  if (Array.isArray(embedding)) {
    return embedding.every((value) => typeof value === 'number')
      ? Float32Array.from(embedding)
      : undefined;
  }
  if (typeof embedding !== 'string') return undefined;
  const bytes = bytesOf(embedding);
  if (bytes === undefined || bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 4 }, (_, index) =>
    view.getFloat32(index * 4, true),
  );
}

function bytesOf(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
