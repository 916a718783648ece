import { storeContract } from '@hexagent/agent-core/testing';
import { type OpenedStore, openKyselyStore } from '@hexagent/agent-kysely';
import { type TestPostgres, testPostgres } from '@hexagent/test-postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, test } from 'vitest';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await testPostgres();
}, 120_000);
afterAll(() => postgres.stop());

const VARIANTS = {
  'with named statements': {},
  'with unnamed statements, a schema and another prefix': {
    statements: 'unnamed',
    schema: 'agents',
    tablePrefix: 'own_',
  },
} as const;

describe.each(Object.entries(VARIANTS))('the store contract on PostgreSQL, %s', (_, options) => {
  const opened: OpenedStore[] = [];
  let url: string;
  let first: OpenedStore;
  const open = async (): Promise<OpenedStore> => {
    const store = await openKyselyStore(url, { ...options, poolSize: 4 });
    opened.push(store);
    return store;
  };

  beforeAll(async () => {
    ({ url } = await postgres.database('contract'));
    first = await open();
    await first.migrator.migrate({ signal: new AbortController().signal });
  });
  afterAll(async () => {
    for (const { close } of opened) await close();
  });

  const table = 'schema' in options ? 'agents.own_run' : 'hexagent_run';
  const hold = async (): Promise<() => Promise<void>> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`begin; lock table ${table} in access exclusive mode`);
    return async () => {
      await client.query('rollback');
      await client.end();
    };
  };

  for (const rule of storeContract) {
    test(rule.name, () =>
      rule.check({
        store: first.store,
        tenant: 'contract',
        capabilities: [
          'clock',
          'second-connection',
          'log-changed',
          'log-prune',
          'claimable-told',
          'held-lock',
        ],
        advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        another: async () => (await open()).store,
        hold,
      }),
    );
  }
});
