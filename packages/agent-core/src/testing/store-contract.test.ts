import { describe, expect, test } from 'vitest';
import { fakeClock } from './fake-clock.ts';
import { memoryState } from './memory/memory-state.ts';
import { storeOver } from './memory-store.ts';
import { type StoreSubject, storeCapabilities } from './store-contract/store-subject.ts';
import { storeContract } from './store-contract.ts';

function subject(): StoreSubject {
  const clock = fakeClock();
  const state = memoryState(clock);
  const store = storeOver(state);
  let lock: Promise<void> | undefined;
  const commit: typeof store.ownership.commit = async (...sent) => {
    if (lock !== undefined) await lock;
    return store.ownership.commit(...sent);
  };
  return {
    store: { ...store, ownership: { ...store.ownership, commit } },
    tenant: 'kit',
    capabilities: storeCapabilities,
    advance: clock.advance,
    another: async () => storeOver(state),
    hold: async () => {
      let unlock = (): void => {};
      lock = new Promise((resolve) => {
        unlock = resolve;
      });
      return async () => unlock();
    },
  };
}

describe('the memory store keeps every promise', () => {
  for (const rule of storeContract) test(rule.name, () => rule.check(subject()));
});

test('every rule has a name of its own', () => {
  const names = storeContract.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test('every need of a rule is a capability of the kit', () => {
  for (const { needs } of storeContract) {
    if (needs !== undefined) expect(storeCapabilities).toContain(needs);
  }
});
