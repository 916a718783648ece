import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { storeContract } from '../../agent-core/src/testing/store-contract.ts';
import { type OpenedStore, openKyselyStore } from '../src/index.ts';

describe('the store contract on a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hexagent-'));
  const url = `file:${join(folder, 'contract.db')}`;
  const opened: OpenedStore[] = [];
  const open = async (): Promise<OpenedStore> => {
    const store = await openKyselyStore(url);
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

  for (const rule of storeContract) {
    test.skipIf(rule.needs === 'log-changed')(rule.name, () =>
      rule.check({
        store: first.store,
        tenant: 'contract',
        capabilities: ['clock', 'second-connection'],
        advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        another: async () => (await open()).store,
      }),
    );
  }
});
