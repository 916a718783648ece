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

test('a store whose claim may lose its race keeps the promise too, as long as the next claim finds what is left', async () => {
  const { store, ...rest } = subject();
  const { ownership } = store;
  let claims = 0;
  const claim: typeof ownership.claim = async (...given) => {
    claims += 1;
    return claims <= 8 ? undefined : ownership.claim(...given);
  };
  const rule = storeContract.find(({ name }) => name.startsWith('many claims of the next run'));
  await rule?.check({ ...rest, store: { ...store, ownership: { ...ownership, claim } } });
  expect(claims).toBeGreaterThan(9);
});
