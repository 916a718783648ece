import {
  HttpAgent,
  type HttpAgentConfig,
  type Message,
  runHttpRequest,
  transformHttpEventStream,
  verifyEvents,
} from '@ag-ui/client';
import type { AGUIEvent } from '@ag-ui/core';
import { EventSchema } from '@ag-ui/core/schemas';

/** What one request got, as it came over the wire. */
export type Exchange = {
  readonly status: number;
  readonly text: string;
  readonly events: readonly AGUIEvent[];
};

/**
 * The published client with a recorder on its connection. What came is held against the protocol: every event against its
 * schema, every stream against the client's own order of events, one end for each stream that was read to its end.
 */
export class CheckedClient extends HttpAgent {
  readonly exchanges: Exchange[] = [];
  readonly #reading: Promise<void>[] = [];

  constructor(config: HttpAgentConfig) {
    super(config);
    this.fetch = async (url, init) => {
      const response = await fetch(url, init);
      if (response.body === null) return response;
      const [theirs, ours] = response.body.tee();
      this.#reading.push(this.#record(response.status, ours));
      return new Response(theirs, { status: response.status, headers: response.headers });
    };
  }

  /** The events of the last request that was read to its end. */
  async last(): Promise<readonly AGUIEvent[]> {
    await Promise.all(this.#reading);
    return this.exchanges.at(-1)?.events ?? [];
  }

  async #record(status: number, body: ReadableStream<Uint8Array>): Promise<void> {
    let text = '';
    const decoder = new TextDecoder();
    const reader = body.getReader();
    for (;;) {
      const next = await reader.read().catch(() => ({ done: true as const, value: undefined }));
      if (next.done) break;
      text += decoder.decode(next.value, { stream: true });
    }
    this.exchanges.push({ status, text, events: status === 200 ? eventsIn(text) : [] });
  }
}

/** Events of a stream as it came; comments are none. */
export function eventsIn(text: string): readonly AGUIEvent[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => JSON.parse(frame.slice('data: '.length)) as AGUIEvent);
}

/** Everything that is wrong with the events of one request that was read to its end. */
export async function faultsIn(events: readonly AGUIEvent[]): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const event of events) {
    const read = EventSchema.safeParse(event);
    if (!read.success) faults.push(`${event.type}: ${read.error.message}`);
  }
  const ends = events.filter(({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR');
  if (ends.length !== 1) faults.push(`It has ${ends.length} ends.`);
  if (ends[0] !== events.at(-1)) faults.push('Something follows its end.');
  if (events[0]?.type !== 'RUN_STARTED')
    faults.push(`It begins with ${events[0]?.type ?? 'nothing'}.`);
  faults.push(...(await orderFaults(events)), ...openAtEnd(events));
  return faults;
}

/** The client's own verifier, on the frames as they would come over the wire. */
export function orderFaults(events: readonly AGUIEvent[]): Promise<readonly string[]> {
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const response = async (): Promise<Response> =>
    new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  return new Promise((resolve) => {
    transformHttpEventStream(runHttpRequest(response))
      .pipe(verifyEvents())
      .subscribe({
        complete: () => resolve([]),
        error: (error: unknown) => resolve([String(error)]),
      });
  });
}

const PAIRS = [
  ['TEXT_MESSAGE_START', 'TEXT_MESSAGE_END', 'messageId'],
  ['TOOL_CALL_START', 'TOOL_CALL_END', 'toolCallId'],
  ['REASONING_START', 'REASONING_END', 'messageId'],
  ['REASONING_MESSAGE_START', 'REASONING_MESSAGE_END', 'messageId'],
  ['STEP_STARTED', 'STEP_FINISHED', 'stepName'],
] as const;

/** The verifier lets `RUN_ERROR` leave things open; we do not. */
function openAtEnd(events: readonly AGUIEvent[]): readonly string[] {
  const fields = events as readonly (AGUIEvent & Readonly<Record<string, unknown>>)[];
  const faults = PAIRS.flatMap(([opens, closes, key]) => {
    const open = new Set<unknown>();
    for (const event of fields) {
      if (event.type === opens) open.add(event[key]);
      if (event.type === closes) open.delete(event[key]);
    }
    return [...open].map((id) => `${opens} of ${String(id)} is never closed.`);
  });
  const subagents = new Set<unknown>();
  for (const event of fields) {
    if (event.type === 'SUBAGENT_STARTED') subagents.add(event['subagentRunId']);
    if (event.type === 'SUBAGENT_FINISHED' || event.type === 'SUBAGENT_ERROR')
      subagents.delete(event['subagentRunId']);
  }
  return [...faults, ...[...subagents].map((id) => `Subagent ${String(id)} is never closed.`)];
}

/** Messages as they are compared: without activities, arguments parsed, absent where empty. */
export function compared(messages: readonly Message[]): readonly unknown[] {
  return messages
    .filter(({ role }) => role !== 'activity')
    .map((message) => {
      if (message.role === 'tool') {
        // The result of a tool of the client has the client's id there, and ours here.
        const { id: _id, ...result } = message;
        return result;
      }
      if (message.role !== 'assistant') return message;
      const calls = message.toolCalls ?? [];
      return {
        id: message.id,
        role: message.role,
        ...(message.content === undefined || message.content === ''
          ? {}
          : { content: message.content }),
        ...(calls.length === 0
          ? {}
          : {
              toolCalls: calls.map((call) => ({
                id: call.id,
                name: call.function.name,
                arguments: JSON.parse(
                  call.function.arguments === '' ? '{}' : call.function.arguments,
                ) as unknown,
              })),
            }),
      };
    });
}
