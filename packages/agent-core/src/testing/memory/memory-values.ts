import type { Value, ValueKey, ValueStore, ValueWrite } from '../../durable/value-store.ts';
import { frozenCopy } from './frozen-copy.ts';
import { type MemoryState, placeOf } from './memory-state.ts';
import { pageOf } from './page-of.ts';

/** Small things that outlive a run. */
export function memoryValues(state: MemoryState): ValueStore {
  return {
    get: async (key, { signal }) => {
      signal.throwIfAborted();
      return currentValue(state, key);
    },
    put: async (write, { signal }) => {
      signal.throwIfAborted();
      const current = currentValue(state, write);
      if (!valueConflict(state, write))
        return { kind: 'written', version: writeValue(state, write) };
      return current === undefined ? { kind: 'conflict' } : { kind: 'conflict', current };
    },
    list: async ({ namespace, tenantId, prefix = '', after, limit, signal }) => {
      signal.throwIfAborted();
      const values = [...state.values.values()]
        .filter((value) => value.namespace === namespace && value.tenantId === tenantId)
        .filter((value) => value.key.startsWith(prefix) && isLive(state, value))
        .filter(({ key }) => after === undefined || key > after)
        .sort((left, right) => (left.key < right.key ? -1 : 1));
      return pageOf(values, { limit, cursorOf: ({ key }) => key });
    },
  };
}

/** True when another version stands there than the write expects. */
export function valueConflict(state: MemoryState, write: ValueWrite): boolean {
  if (write.expect === undefined) return false;
  return (currentValue(state, write)?.version ?? 0) !== write.expect;
}

/** Writes without comparing; answers the version that stands there now, 0 for none. */
export function writeValue(state: MemoryState, { ttlMs, expect: _, ...write }: ValueWrite): number {
  const place = placeOf(write.namespace, write.tenantId, write.key);
  const { namespace, tenantId, key, value } = write;
  const version = (currentValue(state, write)?.version ?? 0) + 1;
  if (value === undefined) {
    state.values.delete(place);
    return 0;
  }
  const expiry = ttlMs === undefined ? {} : { expiresAt: state.clock.now() + ttlMs };
  state.values.set(place, frozenCopy({ namespace, tenantId, key, value, version, ...expiry }));
  return version;
}

function currentValue(state: MemoryState, key: ValueKey): Value | undefined {
  const value = state.values.get(placeOf(key.namespace, key.tenantId, key.key));
  return value !== undefined && isLive(state, value) ? value : undefined;
}

function isLive({ clock }: MemoryState, { expiresAt }: Value): boolean {
  return expiresAt === undefined || expiresAt > clock.now();
}
