import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  bootstrap,
  type DurableStore,
  defineAgent,
  defineTool,
  effects,
  type Message,
  runIdOf,
} from '@hexagent/agent-core';
import { memoryDurability, memoryStore, scriptedModel } from '@hexagent/agent-core/testing';
import { openKyselyStore } from '@hexagent/agent-kysely';
import { type TestPostgres, testPostgres } from '@hexagent/test-postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

const STEPS = 3;

const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: { type: 'object', properties: {} },
  effects: effects.readOnly(),
  execute: () => 'seen',
});
const agent = defineAgent({ name: 'looker', recovery: 'action-boundary', tools: [look] });

/** Runs so many tool steps; answers the characters of each write, and whatever `around` says of it. */
async function writesOf<T>(
  store: DurableStore,
  { history, around }: { readonly history: number; readonly around: () => T },
): Promise<readonly { readonly characters: number; readonly seen: T }[]> {
  const writes: { characters: number; seen: T }[] = [];
  const counted = async <R>(sent: unknown, send: () => Promise<R>): Promise<R> => {
    around();
    const result = await send();
    writes.push({ characters: JSON.stringify(sent).length, seen: around() });
    return result;
  };
  const { ownership } = store;
  const watched: DurableStore = {
    ...store,
    ownership: {
      ...ownership,
      create: (run, first, options) =>
        counted([run, first], () => ownership.create(run, first, options)),
      commit: (lease, commit, stop) => counted(commit, () => ownership.commit(lease, commit, stop)),
    },
  };
  const calls = Array.from({ length: STEPS }, () => ({ calls: [{ name: 'look', input: {} }] }));
  const app = await bootstrap({
    plugins: [scriptedModel([...calls, { text: 'Done.' }]), memoryDurability(watched)],
    agents: [agent],
  });
  const said = Array.from({ length: history }, (_, index): Message => {
    const parts = [{ type: 'text' as const, text: `message ${index}` }];
    return index % 2 === 0
      ? { role: 'user', origin: 'user', parts }
      : { role: 'assistant', origin: 'model', parts };
  });
  const result = await app.run(agent, {
    message: 'go',
    ...(history === 0 ? {} : { history: said }),
  });
  expect(result.kind).toBe('completed');
  await app.close();
  return writes;
}

const nothing = (): undefined => undefined;

test('a step writes the same whether ten, a hundred or a thousand messages came before it', async () => {
  const sizes: number[][] = [];
  for (const history of [10, 100, 1_000]) {
    const [, ...commits] = await writesOf(memoryStore(), { history, around: nothing });
    sizes.push(commits.map(({ characters }) => characters));
  }
  // Counters and instants may have a digit more or less.
  for (const size of sizes)
    for (const [index, characters] of size.entries())
      expect(Math.abs(characters - (sizes[0]?.[index] ?? 0))).toBeLessThan(50);
});

test('a run of three tool steps commits eight times to a SQLite file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hexagent-cost-'));
  const { store, close } = await openKyselyStore(`file:${join(folder, 'runs.db')}`);
  expect(await writesOf(store, { history: 0, around: nothing })).toHaveLength(2 * STEPS + 2);
  await close();
  rmSync(folder, { recursive: true });
});

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await testPostgres();
}, 120_000);
afterAll(() => postgres.stop());

test('a run of three tool steps commits eight times to PostgreSQL, each time in one round trip', async () => {
  const { url } = await postgres.database('cost');
  const { store, close } = await openKyselyStore(url, { migrate: 'auto', notify: false });
  // The first use looks whether the tables are there.
  await store.records.head(runIdOf('r0'), { signal: new AbortController().signal });
  const query = vi.spyOn(pg.Client.prototype, 'query');
  const statements = (): number => {
    const { length } = query.mock.calls;
    query.mockClear();
    return length;
  };
  const writes = await writesOf(store, { history: 0, around: statements });
  query.mockRestore();
  expect(writes.map(({ seen }) => seen)).toEqual(Array.from({ length: 2 * STEPS + 2 }, () => 1));
  await close();
});
