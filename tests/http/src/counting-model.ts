import {
  type AgentModel,
  bind,
  definePlugin,
  Model,
  type ModelEvent,
  type Plugin,
} from '@hexagent/agent-core';

export type Speech = {
  /** Text deltas of one answer. */
  readonly deltas: number;
  /** Milliseconds between two of them. */
  readonly paceMs: number;
  /** Characters of a delta; default: as few as its number takes. */
  readonly characters?: number;
};

/** The n-th piece of what is said: its number comes first, so that a loss and a repetition show. */
export function pieceOf(index: number, characters = 6): string {
  return String(index).padStart(5, '0').padEnd(characters, ' ');
}

export function textOf({ deltas, characters }: Speech): string {
  return Array.from({ length: deltas }, (_, index) => pieceOf(index, characters)).join('');
}

/**
 * A model that counts aloud. A user's message that begins with "write" makes it call the tool of that name once, before it
 * counts; one that begins with "ask" makes it ask the client.
 */
export function countingModel({ deltas, paceMs, characters }: Speech): Plugin {
  const model: AgentModel = {
    id: 'counting',
    capabilities: () => ({
      tools: true,
      reasoning: false,
      structuredOutput: 'none',
      inputModalities: ['text'],
    }),
    async *stream({ messages, tools }, { signal }): AsyncGenerator<readonly ModelEvent[]> {
      const last = messages.at(-1);
      const said =
        last?.role === 'user' ? last.parts.find(({ type }) => type === 'text') : undefined;
      const wanted = said?.type === 'text' ? said.text.split(' ')[0] : undefined;
      if (wanted !== undefined && tools.some(({ name }) => name === wanted)) {
        yield [
          { type: 'tool-call-start', index: 0, name: wanted, providerCallId: 'call_0' },
          { type: 'tool-call-delta', index: 0, delta: '{"text":"a line"}' },
          { type: 'finish', reason: 'tool-calls', usage: {}, model: 'counting' },
        ];
        return;
      }
      for (let index = 0; index < deltas; index += 1) {
        signal.throwIfAborted();
        yield [{ type: 'text', text: pieceOf(index, characters) }];
        if (paceMs > 0) await pause(paceMs, signal);
        else await new Promise((resolve) => setImmediate(resolve));
      }
      yield [{ type: 'finish', reason: 'stop', usage: {}, model: 'counting' }];
    },
  };
  return definePlugin<Record<string, never>>({
    manifest: {
      name: 'counting-model',
      version: '0.0.0',
      contract: 1,
      contributes: [Model],
      requires: [],
      options: { type: 'object' },
    },
    setup: () => [bind(Model, model)],
  })({});
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
