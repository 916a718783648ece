import {
  type AgentModel,
  bind,
  definePlugin,
  type JsonObject,
  Model,
  type ModelEvent,
  type ModelRequest,
  type Plugin,
} from '@hexagent/agent-core';

/** One answer: told what was asked, it may wait for anything before it goes on. */
export type Played = (
  request: ModelRequest,
  signal: AbortSignal,
) => AsyncIterable<ModelEvent> | Iterable<ModelEvent>;

/** A model whose answers are in the hands of the test; `requests` holds what it was asked. */
export function playedModel(answers: readonly Played[]): Plugin & { requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  const model: AgentModel = {
    id: 'played',
    capabilities: () => ({
      tools: true,
      reasoning: false,
      structuredOutput: 'none',
      inputModalities: ['text'],
    }),
    stream: async function* (request, { signal }) {
      const answer = answers[requests.length];
      requests.push(request);
      if (answer === undefined)
        throw new Error(`No answer was played for request ${requests.length}.`);
      let called = false;
      for await (const event of answer(request, signal)) {
        called ||= event.type === 'tool-call-start';
        yield [event];
      }
      signal.throwIfAborted();
      yield [
        { type: 'finish', reason: called ? 'tool-calls' : 'stop', usage: {}, model: 'played' },
      ];
    },
  };
  const plugin = definePlugin({
    manifest: {
      name: 'played-model',
      version: '0.1.0',
      contract: 1,
      contributes: [Model],
      requires: [],
      options: { type: 'object' },
    },
    setup: () => [bind(Model, model)],
  })({});
  return Object.assign(plugin, { requests });
}

export function text(content: string): ModelEvent {
  return { type: 'text', text: content };
}

export function call(name: string, input: JsonObject): readonly ModelEvent[] {
  return [
    { type: 'tool-call-start', index: 0, name },
    { type: 'tool-call-delta', index: 0, delta: JSON.stringify(input) },
  ];
}

/** Resolves when the model is told to stop. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Something to wait for that the test opens. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
