import { bind, Durability, definePlugin, Migrator } from '@hexagent/agent-core';
import { openKyselyStore } from './open-store.ts';
import { type KyselyOptions, OPTIONS_SCHEMA } from './options.ts';
import { VERSION } from './version.ts';

/**
 * The durable store on SQLite or PostgreSQL, and its migrations, as a plugin.
 *
 * @example
 * const app = await bootstrap({ plugins: [kyselyStore({ url: 'file:hexagent.db' })], agents: [] });
 */
export const kyselyStore = definePlugin<KyselyOptions>({
  manifest: {
    name: '@hexagent/agent-kysely',
    version: VERSION,
    contract: 1,
    contributes: [Durability, Migrator],
    requires: [],
    options: OPTIONS_SCHEMA,
  },
  setup: async ({ url, ...options }, { onClose }) => {
    const { store, migrator, close } = await openKyselyStore(url, options);
    onClose(close);
    return [bind(Durability, store), bind(Migrator, migrator)];
  },
});
