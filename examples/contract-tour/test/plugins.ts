import { bind, Durability, definePlugin, type Plugin } from '@hexagent/agent-core';
import { memoryStore } from '@hexagent/agent-core/testing';

/** A durable store that lives as long as the test. */
export function storeForTests(): Plugin {
  return definePlugin({
    manifest: {
      name: 'store-for-tests',
      version: '0.1.0',
      contract: 1,
      contributes: [Durability],
      requires: [],
      options: { type: 'object' },
    },
    setup: () => [bind(Durability, memoryStore())],
  })({});
}
