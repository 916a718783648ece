import type { ModelSelection, Stop } from '@hexagent/agent-core';
import { AgentError } from '@hexagent/agent-core/adapter';
import type { ServerConnection } from './server-connection.ts';
import { noModelServed, servedModels, windowOfProps } from './server-models.ts';
import type { Settings } from './settings.ts';

/** What is known of the models that a server has. */
export interface ServedCatalogue {
  /** Asks the server, in one try. */
  discover(stop: Stop): Promise<void>;
  /** The model of a request: selected, named in the options, or the first that the server lists, which is then asked for. */
  modelFor(selection: ModelSelection | undefined, stop: Stop): Promise<string>;
  /** The model of a request, as far as that is known without asking. */
  nameOf(selection: ModelSelection | undefined): string | undefined;
  /** Tokens; undefined while nobody has said it. */
  window(selection: ModelSelection | undefined): number | undefined;
  learn(model: string, window: number | undefined): void;
}

export function servedCatalogue(connection: ServerConnection, settings: Settings): ServedCatalogue {
  const { baseUrl, rootUrl, profile } = settings;
  const windows = new Map<string, number>();
  let firstServed: string | undefined;
  /** Of a server that has one window for whatever it serves. */
  let shared: number | undefined;

  const ask = (url: string, signal: AbortSignal): Promise<string> =>
    connection.text({ method: 'GET', url, accept: 'application/json' }, signal);

  const askProps = async (signal: AbortSignal): Promise<void> => {
    try {
      shared = windowOfProps(await ask(`${rootUrl}/props`, signal));
    } catch (error) {
      // Only the list has to be there.
      if (!AgentError.is(error)) throw error;
    }
  };

  const discover = async ({ signal }: Stop): Promise<void> => {
    const url = `${baseUrl}/models`;
    const models = servedModels(await ask(url, signal), url);
    for (const { id, contextWindow } of models) {
      if (contextWindow !== undefined) windows.set(id, contextWindow);
    }
    firstServed = models[0]?.id;
    if (profile.contextWindow === 'models-and-props' && windows.size === 0) await askProps(signal);
  };

  const nameOf = (selection: ModelSelection | undefined): string | undefined =>
    selection?.model ?? settings.model ?? firstServed;

  return {
    discover,
    nameOf,
    async modelFor(selection, stop) {
      const named = nameOf(selection);
      if (named !== undefined) return named;
      await discover(stop);
      if (firstServed === undefined) throw noModelServed(`${baseUrl}/models`);
      return firstServed;
    },
    window(selection) {
      if (settings.contextWindow !== undefined) return settings.contextWindow;
      const name = nameOf(selection);
      return (name === undefined ? undefined : windows.get(name)) ?? shared;
    },
    learn(model, window) {
      if (window !== undefined) windows.set(model, window);
    },
  };
}
