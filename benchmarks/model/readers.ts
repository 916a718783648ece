import { anthropicModel } from '@hexagent/agent-anthropic';
import type { AgentModel, ModelRequest } from '@hexagent/agent-core';
import { openaiModel } from '@hexagent/agent-openai';
import { vllmModel } from '@hexagent/agent-vllm';
import { createParser } from 'eventsource-parser';
import { chatCompletions, messages, responses, type Wire, type WireEvent } from './wires.ts';

/** Reads one prepared answer; how many characters of text it has. */
export type Reader = () => Promise<number>;

/** An adapter and the wire that it reads. */
export type Subject = {
  readonly name: string;
  readonly wire: Wire;
  readonly reader: (fetch: typeof globalThis.fetch) => Reader;
};

const common = { baseUrl: 'http://127.0.0.1:9/v1', model: 'bench', apiKey: 'bench', retries: 0 };

export const SUBJECTS: readonly Subject[] = [
  {
    name: 'agent-vllm',
    wire: chatCompletions,
    reader: (fetch) => modelReader(vllmModel({ ...common, fetch })),
  },
  {
    name: 'agent-openai, chat',
    wire: chatCompletions,
    reader: (fetch) => modelReader(openaiModel({ ...common, api: 'chat', fetch })),
  },
  {
    name: 'agent-openai, responses',
    wire: responses,
    reader: (fetch) => modelReader(openaiModel({ ...common, fetch })),
  },
  {
    name: 'agent-anthropic',
    wire: messages,
    reader: (fetch) => modelReader(anthropicModel({ ...common, fetch })),
  },
];

const request: ModelRequest = {
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }], origin: 'user' }],
  tools: [],
  toolChoice: 'auto',
  requestId: 'bench',
};

function modelReader(model: AgentModel): Reader {
  return async () => {
    const { signal } = new AbortController();
    let characters = 0;
    for await (const batch of model.stream(request, { signal })) {
      for (const event of batch) if (event.type === 'text') characters += event.text.length;
    }
    return characters;
  };
}

/** What one writes by hand: `eventsource-parser`, and `JSON.parse` of every event. It checks nothing, and can be stopped by nobody. */
export function bareReader(wire: Wire, fetch: typeof globalThis.fetch): Reader {
  return async () => {
    const body = JSON.stringify({ model: 'bench', messages: request.messages, stream: true });
    const response = await fetch(`${common.baseUrl}/chat/completions`, { method: 'POST', body });
    let characters = 0;
    const parser = createParser({
      onEvent: ({ data }) => {
        if (data === '[DONE]') return;
        const event: WireEvent = JSON.parse(data);
        characters += wire.textOf(event)?.length ?? 0;
      },
    });
    const decoder = new TextDecoder();
    const reader = response.body?.getReader();
    if (reader === undefined) throw new Error('The prepared answer has no body.');
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      parser.feed(decoder.decode(read.value, { stream: true }));
    }
    return characters;
  };
}

/** A `fetch` that answers from memory: the same bytes for everybody, so many events in a network read. */
export function preparedFetch(frames: readonly string[], perRead: number): typeof globalThis.fetch {
  const encoder = new TextEncoder();
  const reads: Uint8Array[] = [];
  for (let at = 0; at < frames.length; at += perRead) {
    reads.push(encoder.encode(frames.slice(at, at + perRead).join('')));
  }
  const headers = { 'content-type': 'text/event-stream' };
  return async () => {
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const read = reads[at];
        at += 1;
        if (read === undefined) controller.close();
        // A copy: who reads bytes may take them away.
        else controller.enqueue(read.slice());
      },
    });
    return new Response(body, { headers });
  };
}
