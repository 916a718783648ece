import type { JsonObject, ModelEvent } from '@hexagent/agent-core';
import {
  type AgentError,
  alarm,
  isJsonObject,
  type JsonValue,
  linked,
  parseJson,
} from '@hexagent/agent-core/adapter';
import { createParser } from 'eventsource-parser';
import { chatStream } from '../chat-stream.ts';
import { type ServerConnection, wholeBody } from '../server-connection.ts';
import type { ServerProfile } from '../server-profile.ts';
import type { Settings } from '../settings.ts';

/** A server and what the probes need to ask it. */
export type ProbeBench = {
  readonly settings: Settings;
  readonly connection: ServerConnection;
  readonly model: string;
  /** Tokens of input and output together, where the server tells. */
  readonly window: number | undefined;
  /** What the probes before have found. */
  readonly found: Partial<ServerProfile>;
  /** How long one probe may take, in milliseconds. */
  readonly probeMs: number;
};

/** An answer, in the server's words and in neutral ones. */
export type ProbeAnswer = {
  readonly isStream: boolean;
  readonly chunks: readonly JsonObject[];
  readonly events: readonly ModelEvent[];
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: JsonValue | undefined }[];
  readonly usage: JsonObject | undefined;
  /** What went wrong inside of the answer. */
  readonly failure: AgentError | undefined;
};

/** Sends one chat request as it is given, and reads the answer to its end. Throws what the server refuses it with. */
export function askServer(
  { connection, settings, model }: ProbeBench,
  fields: JsonObject,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const url = `${settings.baseUrl}/chat/completions`;
  const body = JSON.stringify({ model, ...settings.fields, ...fields });
  const accept = 'text/event-stream, application/json';
  return connection.open(
    { method: 'POST', url, accept, body },
    {
      signal,
      read: async (response, watch) => {
        const context = connection.errorContext(url);
        const type = response.headers.get('content-type') ?? '';
        const text = await wholeBody(response, context);
        response.release();
        watch.release();
        const reader = { ...context, model, provider: settings.profile.name };
        const stream = chatStream({ ...reader, callState: 'none', toName: (wire) => wire });
        const isStream = /event-stream/i.test(type);
        if (isStream) {
          stream.accept(text);
          stream.end();
        } else stream.acceptCompletion(text);
        const chunks = isStream ? chunksOf(text) : [parseJson(text)].filter(isObject);
        return answerOf({ isStream, chunks, events: stream.take(), failure: stream.failure });
      },
    },
  );
}

function chunksOf(text: string): readonly JsonObject[] {
  const chunks: JsonObject[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      const chunk = parseJson(data);
      if (isObject(chunk)) chunks.push(chunk);
    },
  });
  parser.feed(`${text}\n\n`);
  return chunks;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return value !== undefined && isJsonObject(value);
}

function answerOf(
  read: Pick<ProbeAnswer, 'isStream' | 'chunks' | 'events' | 'failure'>,
): ProbeAnswer {
  const calls: { readonly name: string; text: string }[] = [];
  let text = '';
  for (const event of read.events) {
    if (event.type === 'text') text += event.text;
    else if (event.type === 'tool-call-start') calls[event.index] = { name: event.name, text: '' };
    else if (event.type === 'tool-call-delta') {
      const call = calls[event.index];
      if (call !== undefined) call.text += event.delta;
    }
  }
  return {
    ...read,
    text,
    calls: calls.map((call) => ({ name: call.name, input: parseJson(call.text) })),
    usage: read.chunks.map(({ usage }) => usage).findLast(isObject),
  };
}

/** Work that ends with the caller's signal, and with its time. */
export async function withinTime<T>(
  { settings, probeMs }: ProbeBench,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const link = linked(signal);
  const cancel = alarm(settings.clock, probeMs, () => link.abort(new ProbeTimeout(probeMs)));
  try {
    return await link.until(work(link.signal));
  } finally {
    cancel();
    link.release();
  }
}

/** One probe has had its time; the others go on. */
class ProbeTimeout extends Error {
  constructor(probeMs: number) {
    super(`no answer in ${probeMs / 1000} seconds`);
    this.name = 'ProbeTimeout';
  }
}
