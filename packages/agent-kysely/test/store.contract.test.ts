import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storeContract } from '@hexagent/agent-core/testing';
import Database from 'libsql';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type OpenedStore, openKyselyStore } from '../src/index.ts';

/** A capability of the kit that this store does not have, and why. */
const LACKS: Readonly<Record<string, string>> = {
  'log-changed': 'SQLite tells nobody that a row was written: core polls the log.',
  'claimable-told': 'SQLite tells nobody that a row was written: workers poll.',
};

describe('the store contract on a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hexagent-kysely-'));
  const path = join(folder, 'contract.db');
  const opened: OpenedStore[] = [];
  const open = async (): Promise<OpenedStore> => {
    const store = await openKyselyStore(`file:${path}`);
    opened.push(store);
    return store;
  };
  let first: OpenedStore;

  beforeAll(async () => {
    first = await open();
  });
  afterAll(async () => {
    for (const { close } of opened) await close();
    rmSync(folder, { recursive: true });
  });

  const hold = async (): Promise<() => Promise<void>> => {
    const holder = new Database(path);
    holder.exec('begin immediate');
    return async () => {
      holder.exec('rollback');
      holder.close();
    };
  };

  for (const rule of storeContract) {
    test(rule.name, { timeout: 30_000 }, async ({ skip }) => {
      skip(rule.needs !== undefined && rule.needs in LACKS, LACKS[rule.needs ?? '']);
      await rule.check({
        store: first.store,
        tenant: 'contract',
        capabilities: ['clock', 'second-connection', 'log-prune', 'held-lock'],
        advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        another: async () => (await open()).store,
        hold,
      });
    });
  }
});
