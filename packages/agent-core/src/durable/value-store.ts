import type { Stop } from '../base/abort.ts';
import type { Instant } from '../base/clock.ts';
import type { JsonValue } from '../base/json.ts';
import type { Page } from '../base/page.ts';
import type { Kept } from '../vocabulary/kept.ts';

export type ValueKey = {
  readonly namespace: string;
  readonly tenantId: string;
  readonly key: string;
};

/** An expired value is not there. */
export type Value = ValueKey & {
  readonly value: Kept<JsonValue>;
  readonly version: number;
  readonly expiresAt?: Instant;
};

/** No `value` deletes. `expect` is the version that must stand there (0 = none); absent = do not compare. */
export type ValueWrite = ValueKey & {
  readonly value?: Kept<JsonValue>;
  readonly expect?: number;
  readonly ttlMs?: number;
};

/** Small things that outlive a run: sessions, grants, tokens, pins. */
export interface ValueStore {
  get(key: ValueKey, stop: Stop): Promise<Value | undefined>;
  /** A delete answers `written` with version 0. */
  put(
    write: ValueWrite,
    stop: Stop,
  ): Promise<
    | { readonly kind: 'written'; readonly version: number }
    | { readonly kind: 'conflict'; readonly current?: Value }
  >;
  /** In the order of keys (by code unit). */
  list(
    query: Pick<ValueKey, 'namespace' | 'tenantId'> & {
      readonly prefix?: string;
      readonly after?: string;
      readonly limit: number;
    } & Stop,
  ): Promise<Page<Value>>;
}
