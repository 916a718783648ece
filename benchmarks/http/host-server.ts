import { type Binding, bootstrap, defineAgent } from '@hexagent/agent-core';
import { memoryDurability } from '@hexagent/agent-core/testing';
import { HttpServer, httpHost } from '@hexagent/agent-fastapi-like';
import { benchModel } from '../parts/bench-model.ts';
import { type Load, pause, textOf } from './load.ts';
import { obey, type Server } from './served.ts';

/** The host as it is used: an application with a durable agent, and readers on its runs. */
async function hostServer(load: Load): Promise<Server> {
  let go: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const agent = defineAgent({ name: 'bench', recovery: 'action-boundary' });
  const app = await bootstrap({
    plugins: [memoryDurability(), httpHost({ port: 0, logLevel: 'silent' })],
    provide: [speaker(load, gate)],
    agents: [agent],
  });
  const url = app.all(HttpServer)[0]?.url;
  // As the host knows its callers: without `authenticate` all are the principal `local`.
  const { principal } = app.local('local');
  const handles = await Promise.all(
    Array.from({ length: load.runs }, () => app.start(agent, 'go', { principal })),
  );
  return {
    urls: handles.map(({ runId }) => `${url}/runs/${runId}/events`),
    go,
    close: async () => {
      await Promise.all(handles.map(({ result }) => result));
      await app.close();
    },
  };
}

/** A model that says the script once the gate is open. */
function speaker({ events, paceMs }: Load, gate: Promise<void>): Binding {
  return benchModel(async function* () {
    await gate;
    for (let index = 0; index < events; index += 1) {
      yield [{ type: 'text', text: textOf(index) }];
      await pause(paceMs);
    }
    yield [{ type: 'finish', reason: 'stop', usage: {}, model: 'bench' }];
  });
}

obey(hostServer);
