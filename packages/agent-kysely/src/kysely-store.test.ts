import { readFileSync } from 'node:fs';
import { Durability, Migrator, type SetupContext, type Stop } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { kyselyStore } from './kysely-store.ts';

function context() {
  const closing: ((stop: Stop) => Promise<void>)[] = [];
  const setup: SetupContext = {
    get: () => {
      throw new Error('nothing is asked for');
    },
    all: () => [],
    onStart: () => undefined,
    onClose: (step) => {
      closing.push(step);
    },
  };
  return { setup, closing };
}

test('the manifest names the package, its version and what it contributes', () => {
  const { name, version } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  expect(kyselyStore.manifest).toMatchObject({
    name,
    version,
    contract: 1,
    contributes: ['durability', 'migrator'],
    requires: [],
  });
});

test('binds a store and its migrator, and closes what it opened', async () => {
  const { setup, closing } = context();
  const plugin = kyselyStore({ url: 'file::memory:' });
  const [durability, migrator] = await plugin.setup(setup);
  expect(durability?.port.id).toBe(Durability.id);
  const stop = { signal: new AbortController().signal };
  expect(migrator?.port.id).toBe(Migrator.id);
  expect(migrator?.value).toMatchObject({ name: kyselyStore.manifest.name });
  expect(closing).toHaveLength(1);
  for (const close of closing) await close(stop);
});
