import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { memoryState } from '../../src/testing/memory/memory-state.ts';
import { storeOver } from '../../src/testing/memory-store.ts';
import { connecting } from '../../src/testing/store-contract/connecting.ts';
import type { StoreSubject } from '../../src/testing/store-contract.ts';

const CONNECTIONS = connecting.filter(({ needs }) => needs === 'second-connection');
const LOCKS = connecting.filter(({ needs }) => needs === 'held-lock');

test('every rule notices a connection to other data', async () => {
  for (const { check } of CONNECTIONS) {
    const other = async () => storeOver(memoryState(systemClock));
    const subject = { store: await other(), tenant: 'kit', capabilities: [], another: other };
    await expect(check(subject)).rejects.toThrow();
  }
});

/** A store whose commits wait for a lock that is held outside, in one way or another. */
function locked(wait: (isHeld: () => boolean) => Promise<void>): StoreSubject {
  const store = storeOver(memoryState(systemClock));
  let held = false;
  const commit: typeof store.ownership.commit = async (...sent) => {
    await wait(() => held);
    return store.ownership.commit(...sent);
  };
  return {
    store: { ...store, ownership: { ...store.ownership, commit } },
    tenant: 'kit',
    capabilities: ['held-lock'],
    hold: async () => {
      held = true;
      return async () => {
        held = false;
      };
    },
  };
}

/** Does nothing else meanwhile. */
function stop(ms: number): void {
  const end = systemClock.monotonic() + ms;
  while (systemClock.monotonic() < end);
}

test('a commit that stops the process for long while it waits is noticed', async () => {
  expect(LOCKS).toHaveLength(1);
  for (const { check } of LOCKS) {
    const subject = locked(async (isHeld) => {
      while (isHeld()) {
        stop(100);
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
    });
    await expect(check(subject)).rejects.toThrow('fires in time');
  }
});

test('a commit that gives up on a held lock is noticed', async () => {
  for (const { check } of LOCKS) {
    const subject = locked(async (isHeld) => {
      if (isHeld()) throw new Error('the database is locked');
    });
    await expect(check(subject)).rejects.toThrow('the database is locked');
  }
});
