import {
  type Call,
  callIdOf,
  type EvidenceRow,
  type Kept,
  type RunSignal,
  type RunState,
  runIdOf,
  type StoredEvents,
  type StoredMessage,
  type Value,
  type ValueKey,
  type Wait,
  type WaitOpening,
  type WaitRecord,
  type WaitResolution,
  waitIdOf,
} from '@hexagent/agent-core';
import { recordCorrupt } from './failure.ts';
import { decodeKey } from './key-order.ts';
import type {
  CallRow,
  EventRow,
  EvidenceTableRow,
  MessageRow,
  RunRow,
  SignalRow,
  ValueRow,
  WaitRow,
} from './tables.ts';

/**
 * Reads the JSON text of a column. What this store wrote was a `T`; only its outline is looked at
 * again, since a record is checked by whoever made it.
 */
export function stored<T extends object>(text: unknown, where: string): T {
  if (typeof text !== 'string') throw recordCorrupt(where, `${text} instead of text`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw recordCorrupt(where, `${text.length} characters that are not JSON`, cause);
  }
  if (typeof value !== 'object' || value === null) throw recordCorrupt(where, `${typeof value}`);
  return value as T;
}

/** Text of one of the words of a list, as its column holds it. */
function word<T extends string>(text: string): T {
  return text as T;
}

export function runState(row: Pick<RunRow, 'id' | 'state'>): RunState {
  const state = stored<RunState>(row.state, `run ${row.id}`);
  if (state.runId !== row.id) {
    throw recordCorrupt(`run ${row.id}`, `the state of ${JSON.stringify(state.runId)}`);
  }
  return state;
}

export function callRecord(row: Pick<CallRow, 'id' | 'record'>): Call {
  const call = stored<Call>(row.record, `call ${row.id}`);
  if (call.callId !== callIdOf(row.id)) {
    throw recordCorrupt(`call ${row.id}`, `the call ${JSON.stringify(call.callId)}`);
  }
  return call;
}

export function storedMessage(
  row: Pick<MessageRow, 'run' | 'seq' | 'message' | 'replaces'>,
): StoredMessage {
  const where = `message ${row.seq} of run ${row.run}`;
  return {
    runId: runIdOf(row.run),
    seq: row.seq,
    message: stored<StoredMessage['message']>(row.message, where),
    ...(row.replaces === null ? {} : { replaces: stored<[number, number]>(row.replaces, where) }),
  };
}

/** What a wait's row keeps as one text, since it never changes. */
type Question = Pick<Wait, 'callId' | 'prompt' | 'allowed' | 'onExpiry'>;

export function questionText({ callId, prompt, allowed, onExpiry }: WaitOpening): string {
  return JSON.stringify({ callId, prompt, allowed, onExpiry } satisfies {
    [K in keyof Question]: unknown;
  });
}

export function waitRecord(row: WaitRow): WaitRecord {
  const where = `wait ${row.id}`;
  const { callId, prompt, allowed, onExpiry } = stored<Question>(row.question, where);
  if (!Array.isArray(allowed)) throw recordCorrupt(where, 'no list of allowed answers');
  return {
    id: waitIdOf(row.id),
    runId: runIdOf(row.run),
    rootRunId: runIdOf(row.root),
    ...(callId === undefined ? {} : { callId }),
    kind: word<Wait['kind']>(row.kind),
    status: word<Wait['status']>(row.status),
    digest: row.digest,
    prompt,
    allowed,
    openedAt: row.opened_at,
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    onExpiry,
    ...(row.decision === null
      ? {}
      : { decision: word<NonNullable<Wait['decision']>>(row.decision) }),
    ...(row.resolved_by === null ? {} : { resolvedBy: row.resolved_by }),
    ...(row.resolution === null
      ? {}
      : { resolution: stored<Kept<WaitResolution>>(row.resolution, where) }),
  };
}

/** A wait as it is shown: without its answer. */
export function shownWait(row: WaitRow): Wait {
  return waitRecord({ ...row, resolution: null });
}

export function evidenceRow(row: EvidenceTableRow): EvidenceRow {
  const where = `evidence ${row.seq} of ${row.root}`;
  return {
    seq: row.seq,
    runId: runIdOf(row.run),
    kind: word<EvidenceRow['kind']>(row.kind),
    at: row.at,
    ...(row.manifest_ref === null ? {} : { manifestRef: row.manifest_ref }),
    ...(row.payload === null
      ? {}
      : { payload: stored<NonNullable<EvidenceRow['payload']>>(row.payload, where) }),
    ...(row.salt === null ? {} : { salt: row.salt }),
    payloadDigest: row.payload_digest,
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}

export function storedEvents(row: EventRow): StoredEvents {
  const where = `event ${row.last_seq} of ${row.root}`;
  return {
    runId: runIdOf(row.run),
    agent: row.agent,
    ...(row.step === null ? {} : { stepId: row.step }),
    firstSeq: row.first_seq,
    lastSeq: row.last_seq,
    at: row.at,
    event: stored<StoredEvents['event']>(row.event, where),
    ...(row.ends === null ? {} : { ends: stored<number[]>(row.ends, where) }),
  };
}

export function runSignal(row: SignalRow): RunSignal {
  return {
    seq: row.seq,
    kind: word<RunSignal['kind']>(row.kind),
    payload: stored<RunSignal['payload']>(row.payload, `signal ${row.seq} of ${row.root}`),
    dedupeKey: row.dedupe_key,
    at: row.at,
  };
}

export function storedValue(row: ValueRow): Value {
  const key: ValueKey = {
    namespace: row.namespace,
    tenantId: row.tenant,
    key: decodeKey(row.key),
  };
  return {
    ...key,
    value: stored<Value['value']>(row.value, `value "${key.key}" of ${key.namespace}`),
    version: row.version,
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
  };
}

/** Ids in the order in which they were made: `r1.2.10` comes after `r1.2.9`. */
const natural = new Intl.Collator('en', { numeric: true });

export function byId(left: { readonly id: string }, right: { readonly id: string }): number {
  return natural.compare(left.id, right.id);
}

/** A digest stands where the messages that it replaces stood. */
export function standing(rows: readonly StoredMessage[]): readonly StoredMessage[] {
  const isReplaced = ({ seq }: StoredMessage): boolean =>
    rows.some((other) => {
      if (other.replaces === undefined || other.seq <= seq) return false;
      const [from, to] = other.replaces;
      return from <= seq && seq <= to;
    });
  const placeOf = ({ seq, replaces }: StoredMessage): number => replaces?.[0] ?? seq;
  return rows
    .filter((row) => !isReplaced(row))
    .sort((left, right) => placeOf(left) - placeOf(right));
}
