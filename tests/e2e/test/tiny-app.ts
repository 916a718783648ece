import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AgentDefinition,
  type App,
  bootstrap,
  type Envelope,
  type RunHandle,
} from '@hexagent/agent-core';
import { kyselyStore } from '@hexagent/agent-kysely';
import { type VllmOptions, vllm } from '@hexagent/agent-vllm';
import { afterAll, onTestFinished, type TestAPI, test } from 'vitest';
import { type ChatServer, serveChat } from '../src/chat-server.ts';
import { loadTinyModel } from '../src/tiny-model.ts';

/** Tests with the real model behind a real server; where the platform cannot run it, they are skipped and say why. */
export async function withTinyModel(): Promise<{
  readonly modelTest: TestAPI | TestAPI['skip'];
  /** Call it inside of a test. */
  readonly server: () => ChatServer;
}> {
  const loaded = await loadTinyModel();
  if (loaded.model === undefined) {
    console.warn(`Tests with the tiny model are skipped: ${loaded.why}.`);
    return {
      modelTest: test.skip,
      server: () => {
        throw new Error(loaded.why);
      },
    };
  }
  const { model } = loaded;
  const server = await serveChat(model);
  afterAll(async () => {
    await server.close();
    await model.close();
  });
  return { modelTest: test, server: () => server };
}

/** A durable application on a SQLite file of its own; given a file, a second process would see the same. */
export async function tinyApp(
  server: ChatServer,
  agent: AgentDefinition,
  {
    file = storeFile(),
    ...options
  }: Partial<VllmOptions> & { readonly file?: string | undefined } = {},
): Promise<App> {
  const app = await bootstrap({
    plugins: [vllm({ baseUrl: server.url, ...options }), kyselyStore({ url: `file:${file}` })],
    agents: [agent],
  });
  onTestFinished(() => app.close());
  return app;
}

export function storeFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hexagent-e2e-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'runs.db');
}

export async function eventsOf(run: RunHandle): Promise<readonly Envelope[]> {
  const events: Envelope[] = [];
  for await (const envelope of run.events({ after: 0 })) events.push(envelope);
  return events;
}

/** The types of events, without evidence, neighbouring deltas as one. */
export function shape(events: readonly Envelope[]): readonly string[] {
  const types = events
    .map(({ event }) => event.type)
    .filter((type) => type !== 'evidence-recorded');
  return types.filter((type, at) => type !== types[at - 1] || !type.endsWith('-delta'));
}

/** Everything that was said, and every result, in order: what a reader sees, however the log cut it. */
export function told(events: readonly Envelope[]): readonly unknown[] {
  const text = events.map(({ event }) => (event.type === 'message-delta' ? event.delta : ''));
  const results = events.flatMap(({ event }) =>
    event.type === 'tool-call-result' ? [[event.toolName, event.outcome, event.content]] : [],
  );
  return [text.join(''), ...results];
}
