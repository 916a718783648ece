import { commitTooLarge } from '../base/error-catalog.ts';
import type { CallId, RunId } from '../base/ids.ts';
import type { Call } from '../durable/call.ts';
import type { Commit, WaitMove, WaitOpening } from '../durable/commit.ts';
import type { ValueWrite } from '../durable/value-store.ts';
import type { EvidenceRow } from '../vocabulary/evidence.ts';
import type { Message } from '../vocabulary/message.ts';

/** Records (messages, calls, waits) of one commit; events and evidence follow from them. */
const MAX_ROWS = 90;
/** Characters of the JSON of one commit's messages. */
const MAX_MESSAGES = 4 * 1024 * 1024;
/** Of its events: an end says the last answer twice, and a pause the arguments that were asked about again. */
const MAX_EVENTS = 3 * MAX_MESSAGES;
/** The most that one answer of a model may be; the rest of a commit's messages is for what is said about it. */
export const MAX_ANSWER = 4_000_000;
/** What is larger should not share a commit with what was known before it. */
export const LARGE_ANSWER: number = 256 * 1024;
/** Of artifacts and state patches, whose size their makers choose. */
export const MAX_PRODUCED: number = 4 * 1024 * 1024;
/** Half of that, or less: a batch leaves room for one result more, which is there twice, as message and as event. */
const FULL_ROWS = 45;
const FULL_CHARACTERS = 512 * 1024;
/** The part of a run's ledger that the next commit takes. Inputs and carried values are plain here. */
export type Pending = {
  messages: { readonly runId: RunId; readonly seq: number; readonly message: Message }[];
  calls: Map<CallId, Call>;
  opens: WaitOpening[];
  moves: WaitMove[];
  evidence: EvidenceRow[];
  consume: number[];
  /** By place: one commit writes a value once. */
  values: Map<string, ValueWrite>;
  characters: number;
  /** How much of that artifacts and state patches are. */
  produced: number;
  progress: boolean;
};

export const nothing = (): Pending => ({
  messages: [],
  calls: new Map(),
  opens: [],
  moves: [],
  evidence: [],
  consume: [],
  values: new Map(),
  characters: 0,
  produced: 0,
  progress: false,
});

/** One commit should not take much more. */
export function isFull({ messages, calls, moves, values, characters }: Pending): boolean {
  return (
    messages.length + calls.size + moves.length + values.size >= FULL_ROWS ||
    characters >= FULL_CHARACTERS
  );
}

export function isEmpty(pending: Pending): boolean {
  const { messages, calls, opens, moves, evidence, consume, values } = pending;
  return (
    messages.length +
      calls.size +
      opens.length +
      moves.length +
      evidence.length +
      consume.length +
      values.size ===
    0
  );
}

/** Where a value lies. */
export function placeOf({ namespace, tenantId, key }: ValueWrite): string {
  return JSON.stringify([namespace, tenantId, key]);
}

/** What a refused commit held, and what has come since. */
export function merged(first: Pending, then: Pending): Pending {
  return {
    messages: [...first.messages, ...then.messages],
    calls: new Map([...first.calls, ...then.calls]),
    opens: [...first.opens, ...then.opens],
    // Only an expiry can have been overtaken: its owner reads the answer and decides again.
    moves: [...first.moves.filter(({ to }) => to !== 'expired'), ...then.moves],
    evidence: [...first.evidence, ...then.evidence],
    consume: [...first.consume, ...then.consume],
    values: new Map([...first.values, ...then.values]),
    characters: first.characters + then.characters,
    produced: first.produced + then.produced,
    progress: first.progress || then.progress,
  };
}

/** @throws AgentError `COMMIT_TOO_LARGE` above the limits of one commit. */
export function refuseLarge(commit: Commit, { messages }: Pick<Pending, 'messages'>): void {
  const rows =
    1 +
    (commit.messages?.length ?? 0) +
    (commit.calls?.length ?? 0) +
    (commit.opens?.length ?? 0) +
    (commit.moves?.length ?? 0) +
    // What is deleted takes no room.
    (commit.values ?? []).filter(({ value }) => value !== undefined).length;
  if (rows > MAX_ROWS) throw commitTooLarge(`${rows} rows`, `${MAX_ROWS} rows`);
  // As they are said: what a sealer makes of them is longer.
  refuseAbove(MAX_MESSAGES, {
    of: 'messages',
    sizes: messages.map(({ message }) => sizeOf(message)),
  });
  const events = commit.events ?? [];
  refuseAbove(MAX_EVENTS, { of: 'events', sizes: events.map(({ event }) => sizeOf(event)) });
}

function refuseAbove(
  limit: number,
  { of, sizes }: { readonly of: string; readonly sizes: readonly number[] },
): void {
  const size = sizes.reduce((sum, one) => sum + one, 0);
  if (size > limit) throw commitTooLarge(`${size} characters of ${of}`, `${limit} characters`);
}

/** The text length is close enough: the limit protects the store, it is no contract about bytes. */
export function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}
