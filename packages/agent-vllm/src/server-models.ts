import {
  type AgentError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  modelNotFound,
  modelResponseInvalid,
  parseJson,
} from '@hexagent/agent-core/adapter';

/** A model that the server lists. */
export type ServedModel = {
  readonly id: string;
  readonly contextWindow?: number;
  /** Who serves it, as the list says. */
  readonly ownedBy?: string;
};

/** Reads the answer of `GET /models`, in order. Throws `MODEL_RESPONSE_INVALID` for anything else. */
export function servedModels(body: string, at: string): readonly ServedModel[] {
  const value = parseJson(body);
  const data = isJsonObject(value) ? value['data'] : undefined;
  if (!Array.isArray(data)) {
    throw modelResponseInvalid({
      at,
      reason: 'it did not answer with a list of models',
      mend: 'Check that baseUrl is an OpenAI-compatible server; or name the model in the options.',
    });
  }
  return data.flatMap((entry: JsonValue) => {
    if (!isJsonObject(entry) || typeof entry['id'] !== 'string') return [];
    const contextWindow = windowOf(entry);
    const ownedBy = entry['owned_by'];
    return [
      {
        id: entry['id'],
        ...(contextWindow === undefined ? {} : { contextWindow }),
        ...(typeof ownedBy === 'string' ? { ownedBy } : {}),
      },
    ];
  });
}

/** The window that llama.cpp's `/props` tells: that of one of its slots. Undefined where it is not told. */
export function windowOfProps(body: string): number | undefined {
  const value = parseJson(body);
  const generation = isJsonObject(value) ? value['default_generation_settings'] : undefined;
  const window = isJsonObject(generation) ? generation['n_ctx'] : undefined;
  return typeof window === 'number' && window > 0 ? window : undefined;
}

/** The server lists no model at all, so none can be chosen. */
export function noModelServed(at: string): AgentError {
  return modelNotFound({
    at,
    reason: 'the server lists no model',
    mend: 'Load a model into the server, or name one in the options.',
  });
}

/** vLLM and SGLang say `max_model_len`, OpenRouter `context_length`, llama.cpp `meta.n_ctx`. */
function windowOf(entry: JsonObject): number | undefined {
  const { meta } = entry;
  const candidates = [
    entry['max_model_len'],
    entry['context_length'],
    isJsonObject(meta) ? meta['n_ctx'] : undefined,
  ];
  return candidates.find((value): value is number => typeof value === 'number' && value > 0);
}
