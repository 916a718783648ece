import { canonicalJson, type JsonObject, type JsonValue } from '../base/json.ts';
import { sha256Hex } from '../base/sha256.ts';
import type { Part } from '../vocabulary/message.ts';
import type { ModelSelection } from '../vocabulary/model-selection.ts';
import type { ModelCapabilities, ModelEvent, ModelRequest } from './agent-model.ts';
import type { Redactor } from './redact.ts';

export const CASSETTE_FORMAT = 1;

/** Calls of a model as they were, to be played again in tests: plain JSON, to be kept beside them. */
export type Cassette = {
  readonly format: typeof CASSETTE_FORMAT;
  /** The `id` of the model that was recorded. */
  readonly id: string;
  /** What it said it can do, by the selection it was asked with. */
  readonly capabilities: Readonly<Record<string, ModelCapabilities>>;
  readonly recordings: readonly Recording[];
};

export type Recording = {
  /** Of `request`. */
  readonly digest: string;
  /** What the answer depends on, without secrets. */
  readonly request: JsonObject;
  readonly batches: readonly (readonly ModelEvent[])[];
  /** How the stream failed after that, where it did. */
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly mend: string;
    readonly retryable: boolean;
    readonly retryAfterMs?: number;
  };
};

/** Where a cassette is kept: a file, for instance. The core itself reads and writes none. */
export type CassetteStore = {
  /** Undefined when there is none yet. */
  readonly load: () => Promise<Cassette | undefined>;
  readonly save: (cassette: Cassette) => Promise<void>;
};

export function selectionKey(selection: ModelSelection | undefined): string {
  return canonicalJson(selection ?? null);
}

/**
 * What a request asks, the same in every run: ids of calls are counted, and what belongs to one run, tenant or machine (the
 * id of the request, the tenant, caching) is left out.
 */
export function askedBy(request: ModelRequest, redact: Redactor): JsonObject {
  const { messages, tools, toolChoice, output, sampling, selection } = request;
  const ids = new Map<string, string>();
  for (const { parts } of messages)
    for (const part of parts)
      if (part.type === 'tool-call' && !ids.has(part.callId))
        ids.set(part.callId, `call-${ids.size + 1}`);
  const asked = {
    messages: messages.map((message) => ({
      ...message,
      parts: message.parts.map((part) => redactedPart(part, redact)),
    })),
    tools,
    toolChoice,
    output: output ?? {},
    sampling: sampling ?? {},
    selection: selection ?? {},
  };
  const json = JSON.parse(JSON.stringify(asked)) as JsonValue;
  return counted(texts(json, redact), ids) as JsonObject;
}

export function digestOf(asked: JsonObject): string {
  return sha256Hex(canonicalJson(asked));
}

/** Fields are taken out by their names only where they are data; the schema of a tool may well have a `password`. */
function redactedPart(part: Part, redact: Redactor): Part {
  if (part.type === 'data') return { ...part, data: redact.data(part.data) };
  if (part.type === 'tool-call') return { ...part, input: redact.data(part.input) as JsonObject };
  if (part.type !== 'tool-result') return part;
  return { ...part, content: part.content.map((piece) => redactedPart(piece, redact)) };
}

function texts(value: JsonValue, redact: Redactor): JsonValue {
  return mapTexts(value, (text) => redact.text(text));
}

function counted(value: JsonValue, ids: ReadonlyMap<string, string>): JsonValue {
  return mapTexts(value, (text) => ids.get(text) ?? text);
}

function mapTexts(value: JsonValue, map: (text: string) => string): JsonValue {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapTexts(item as JsonValue, map)]),
  );
}

/**
 * The events of an answer without secrets. A secret may lie across two pieces, and arguments can only be read whole: where
 * something is taken out, the pieces of that text come as one.
 */
export function redactedEvents(
  batches: readonly (readonly ModelEvent[])[],
  redact: Redactor,
): readonly (readonly ModelEvent[])[] {
  const whole = new Map<string, string>();
  for (const event of batches.flat()) {
    const lane = laneOf(event);
    if (lane !== undefined) whole.set(lane.name, (whole.get(lane.name) ?? '') + lane.text);
  }
  const replaced = new Map<string, string>();
  for (const [name, text] of whole) {
    const kept = name.startsWith('call') ? redactedArguments(text, redact) : redact.text(text);
    if (kept !== text) replaced.set(name, kept);
  }
  const given = new Set<string>();
  return batches
    .map((batch) =>
      batch.flatMap((event): readonly ModelEvent[] => {
        if (event.type === 'provider-state') {
          const { provider, value } = event.state;
          return [{ type: 'provider-state', state: { provider, value: texts(value, redact) } }];
        }
        const lane = laneOf(event);
        const text = lane === undefined ? undefined : replaced.get(lane.name);
        if (lane === undefined || text === undefined) return [event];
        if (given.has(lane.name)) return [];
        given.add(lane.name);
        return [
          event.type === 'tool-call-delta'
            ? { ...event, delta: text }
            : ({ ...event, text } as ModelEvent),
        ];
      }),
    )
    .filter((batch) => batch.length > 0);
}

function laneOf(event: ModelEvent): { readonly name: string; readonly text: string } | undefined {
  switch (event.type) {
    case 'text':
    case 'reasoning':
      return { name: event.type, text: event.text };
    case 'tool-call-delta':
      return { name: `call ${event.index}`, text: event.delta };
    case 'tool-call-start':
    case 'provider-state':
    case 'finish':
      return undefined;
  }
}

/** Broken arguments stay as broken as they were. */
function redactedArguments(text: string, redact: Redactor): string {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return redact.text(text);
  }
  const kept = redact.data(value);
  return canonicalJson(kept) === canonicalJson(value) ? text : JSON.stringify(kept);
}
