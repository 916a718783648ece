import { bind } from '../base/port.ts';
import { definePlugin, type Plugin } from '../bootstrap/plugin.ts';
import { Durability, type DurableStore } from '../durable/durable-store.ts';
import { memoryStore } from './memory-store.ts';

/** The in-memory store as a plugin, for tests: two applications over one store are two processes over one database. */
export function memoryDurability(store: DurableStore = memoryStore()): Plugin {
  return definePlugin<Record<string, never>>({
    manifest: {
      name: 'memory-durability',
      version: '0.0.0',
      contract: 1,
      contributes: [Durability],
      requires: [],
      options: { type: 'object', properties: {}, additionalProperties: false },
    },
    setup: () => [bind(Durability, store)],
  })({});
}
