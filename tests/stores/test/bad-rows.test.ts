import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type App,
  bind,
  bootstrap,
  type Caller,
  Durability,
  defineAgent,
  definePlugin,
  defineTool,
  effects,
  type RunId,
  verifyEvidence,
} from '@hexagent/agent-core';
import { type ScriptStep, scriptedModel } from '@hexagent/agent-core/testing';
import { openKyselyStore } from '@hexagent/agent-kysely';
import { type TestPostgres, testPostgres } from '@hexagent/test-postgres';
import Database from 'libsql';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await testPostgres();
}, 120_000);
afterAll(() => postgres.stop());

type Bed = { readonly url: string; readonly sql: (text: string) => Promise<void> };

async function sqliteBed(): Promise<Bed> {
  const folder = mkdtempSync(join(tmpdir(), 'hexagent-rows-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'runs.db');
  return {
    url: `file:${path}`,
    sql: async (text) => {
      const database = new Database(path);
      database.exec(text);
      database.close();
    },
  };
}

async function postgresBed(): Promise<Bed> {
  const { url } = await postgres.database('rows');
  return {
    url,
    sql: async (text) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(text).finally(() => client.end());
    },
  };
}

const ran: string[] = [];
const clerk = defineAgent({
  name: 'clerk',
  recovery: 'action-boundary',
  accepts: ['external-event'],
  tools: [
    defineTool({
      name: 'write',
      description: 'Writes.',
      input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      effects: effects.writeState(),
      approval: 'required',
      execute: (input) => {
        const { id } = input as { readonly id: string };
        ran.push(id);
        return `wrote ${id}`;
      },
    }),
  ],
});

/** A process over the database. */
async function processOf(
  url: string,
  steps: readonly ScriptStep[],
): Promise<App & { readonly caller: Caller }> {
  const { store, close } = await openKyselyStore(url, { migrate: 'auto' });
  const durability = definePlugin<Record<string, never>>({
    manifest: {
      name: 'bad-rows-store',
      version: '0.0.0',
      contract: 1,
      contributes: [Durability],
      requires: [],
      options: { type: 'object' },
    },
    setup: (_options, { onClose }) => {
      onClose(close);
      return [bind(Durability, store)];
    },
  })({});
  const app = await bootstrap({
    plugins: [scriptedModel(steps), durability],
    agents: [clerk],
    leaseMs: 1_000,
  });
  return { ...app, caller: app.local('operator') };
}

const writes = (id: string): ScriptStep => ({ calls: [{ name: 'write', input: { id } }] });
const done: ScriptStep = { text: 'Done.' };

/** Two runs that ask; what they were stored by is gone. */
async function askedTwice(url: string): Promise<{ readonly broken: RunId; readonly whole: RunId }> {
  const app = await processOf(url, [writes('broken'), writes('whole')]);
  const [broken, whole] = [await app.start(clerk, 'x'), await app.start(clerk, 'x')];
  await broken.result;
  await whole.result;
  await app.close();
  return { broken: broken.runId, whole: whole.runId };
}

async function waitOf(app: App & { readonly caller: Caller }, runId: RunId) {
  const [wait] = (await app.runs.waits({ runId }, app.caller)).items;
  if (wait === undefined) throw new Error(`${runId} waits for nothing`);
  return wait.id;
}

/** Damage of the rows of one run, as a hand or a disk does it. */
const DAMAGES: Readonly<Record<string, (id: RunId) => string>> = {
  'a run row that is no JSON': (id) =>
    `update hexagent_run set state = '{"half' where id = '${id}'`,
  'a run row of another run': (id) =>
    `update hexagent_run set state = '{"runId":"rother"}' where id = '${id}'`,
  'a message that is no JSON': (id) =>
    `update hexagent_message set message = 'Hello.' where root = '${id}' and seq = 2`,
  'a message that is missing': (id) =>
    `delete from hexagent_message where root = '${id}' and seq = 2`,
  'a message of no role': (id) =>
    `update hexagent_message set message = '{"plain":{"role":"oracle","parts":[]}}' where root = '${id}' and seq = 2`,
  'a call that is no JSON': (id) => `update hexagent_call set record = '}' where root = '${id}'`,
  'a call that is missing': (id) => `delete from hexagent_call where root = '${id}'`,
  'a wait that is no JSON': (id) => `update hexagent_wait set question = '' where root = '${id}'`,
  'evidence that was cut': (id) => `delete from hexagent_evidence where root = '${id}' and seq > 2`,
  'an input that is no JSON': (id) => `update hexagent_run set input = 'null' where id = '${id}'`,
};

describe.each([
  ['SQLite', sqliteBed],
  ['PostgreSQL', postgresBed],
] as const)('on %s', (_name, open) => {
  test.each(Object.entries(DAMAGES))(
    '%s is RECORD_CORRUPT, and the other runs go on',
    { timeout: 60_000 },
    async (_what, damage) => {
      const { url, sql } = await open();
      const { broken, whole } = await askedTwice(url);
      // News make both claimable for whoever recovers.
      const news = await openKyselyStore(url);
      for (const runId of [broken, whole]) {
        const signal = { kind: 'external-event', payload: { name: 'n' }, dedupeKey: 'n' } as const;
        await news.store.inbox.append(runId, signal, { signal: new AbortController().signal });
      }
      await news.close();
      await sql(damage(broken));

      ran.length = 0;
      const app = await processOf(url, [done]);
      const corrupt = { code: 'RECORD_CORRUPT', mend: expect.stringContaining('backup') };
      await expect(app.recover(app.caller)).rejects.toMatchObject(corrupt);
      await app.runs.resolve(await waitOf(app, whole), { decision: 'approve' }, app.caller);
      expect((await (await app.runs.resume(whole, app.caller)).result).kind).toBe('completed');
      expect(ran).toEqual(['whole']);
      expect(verifyEvidence(await app.runs.evidence(whole, {}, app.caller))).toBeUndefined();
      const { items } = await app.runs.list({}, app.caller);
      expect(items.map(({ runId }) => runId)).toContain(whole);
      expect((await app.runs.waits({}, app.caller)).items.map(({ runId }) => runId)).toContain(
        whole,
      );
      await app.close();
    },
  );

  test('an approval that was asked before a restart is found, answered and acted on by a new process, once (C10)', {
    timeout: 60_000,
  }, async () => {
    const { url } = await open();
    const { broken: one, whole: two } = await askedTwice(url);
    ran.length = 0;
    const app = await processOf(url, [done, done]);
    const other = await processOf(url, []);
    const pending = await app.runs.waits({ status: 'pending' }, app.caller);
    expect(pending.items.map(({ runId }) => runId).sort()).toEqual([one, two].sort());
    for (const { id, runId } of pending.items) {
      await app.runs.resolve(id, { decision: 'approve' }, app.caller);
      await expect(
        other.runs.resolve(id, { decision: 'reject' }, other.caller),
      ).rejects.toMatchObject({
        code: 'WAIT_ALREADY_RESOLVED',
      });
      expect((await (await app.runs.resume(runId, app.caller)).result).kind).toBe('completed');
    }
    expect(ran.sort()).toEqual(['broken', 'whole']);
    await Promise.all([app.close(), other.close()]);
  });
});
