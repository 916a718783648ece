declare const brand: unique symbol;

/** A run. Ids are URL-safe and start with their root: run `r…`, call `{runId}.{step}.{index}`, wait `{callId}.w{n}`. */
export type RunId = string & { readonly [brand]: 'RunId' };
export type CallId = string & { readonly [brand]: 'CallId' };
export type WaitId = string & { readonly [brand]: 'WaitId' };

/** Where ids and random bytes come from; a port, so that tests repeat. */
export interface IdSource {
  /** A new id of URL-safe characters, unique for ever. */
  next(): string;
  /** So many random bytes. */
  bytes(length: number): Uint8Array;
}

/** 32 letters, so that five bits of a random byte name one without bias. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 20;
/** Every two letters, so that an id is put together in ten steps. */
const PAIRS: readonly string[] = [...ALPHABET].flatMap((first) =>
  [...ALPHABET].map((second) => first + second),
);

/** Ids of 20 characters, 100 random bits, from the platform's `crypto`. */
export const randomIds: IdSource = pooledIds(1024);

/** Asks for randomness a block at a time: a call of `crypto` costs more than an id. No byte is given out twice. */
function pooledIds(poolSize: number): IdSource {
  const pool = new Uint8Array(poolSize);
  let used = poolSize;
  /** Where so many unused bytes begin. */
  const take = (length: number): number => {
    if (used + length > poolSize) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    used += length;
    return used - length;
  };
  return {
    next: () => {
      const from = take(LENGTH);
      let id = '';
      for (let index = from; index < from + LENGTH; index += 2) {
        const pair = (((pool[index] as number) & 31) << 5) | ((pool[index + 1] as number) & 31);
        id += PAIRS[pair] as string;
      }
      return id;
    },
    bytes: (length) => {
      if (length > poolSize) return crypto.getRandomValues(new Uint8Array(length));
      const from = take(length);
      return pool.slice(from, from + length);
    },
  };
}

export function runIdOf(text: string): RunId {
  return text as RunId;
}

export function callIdOf(text: string): CallId {
  return text as CallId;
}

export function waitIdOf(text: string): WaitId {
  return text as WaitId;
}

/** The root run of a run, call, wait, message or step id: everything before the first dot. */
export function rootOf(id: string): RunId {
  const end = id.indexOf('.');
  return runIdOf(end === -1 ? id : id.slice(0, end));
}
