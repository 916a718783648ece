import {
  isControl,
  type ResolveResult,
  type RunId,
  type RunInbox,
  type RunSignal,
  rootOf,
  runIdOf,
} from '@hexagent/agent-core';
import { checkKeys } from '../keys.ts';
import { shownWait } from '../records.ts';
import type { InboxRow, WaitRow } from '../tables.ts';
import { resolvedWait } from '../wake-ups.ts';
import type { SqliteParts } from './parts.ts';

/** What outsiders write. */
export function sqliteInbox(parts: SqliteParts): Pick<RunInbox, 'append' | 'resolve'> {
  const { connection } = parts;
  return {
    append: async (rootRunId, signal, stop) => {
      checkKeys({ dedupeKey: signal.dedupeKey });
      return connection.write(() => appendSignal(parts, rootRunId, signal), stop.signal);
    },
    resolve: (waitId, answer, { signal }) =>
      connection.write(() => resolve(parts, { waitId, ...answer }), signal),
  };
}

/** Inside a transaction: the dedupe key first, then whether the inbox is closed. */
export function appendSignal(
  { connection, statements, now }: SqliteParts,
  root: RunId,
  signal: Omit<RunSignal, 'seq' | 'at'>,
): 'appended' | 'duplicate' | 'terminal' {
  const { kind, payload, dedupeKey } = signal;
  const known = connection.one(statements.signalByKey, [root, dedupeKey]);
  if (known !== undefined) return 'duplicate';
  const inbox = connection.one<InboxRow>(statements.inbox, [root]);
  if (inbox === undefined || inbox.closed === 1) return 'terminal';
  const wakes = isControl(kind) ? 1 : 0;
  const text = JSON.stringify(payload);
  connection.run(statements.insertSignal, [root, inbox.next, kind, text, dedupeKey, now(), wakes]);
  connection.run(statements.advanceInbox, [root]);
  return 'appended';
}

type Answer = Parameters<RunInbox['resolve']>[1] & { readonly waitId: string };

function resolve(parts: SqliteParts, answer: Answer): ResolveResult {
  const { connection, statements } = parts;
  const { waitId, digest, decision, by, resolution } = answer;
  const row = connection.one<WaitRow>(statements.waitById, [rootOf(waitId), waitId]);
  if (row === undefined) return { kind: 'unknown' };
  const wait = shownWait(row);
  if (wait.status !== 'pending') return { kind: 'already', wait };
  if (wait.digest !== digest) return { kind: 'digest-mismatch' };
  if (!wait.allowed.includes(decision)) return { kind: 'not-allowed' };
  if (wait.expiresAt !== undefined && wait.expiresAt <= parts.now()) return { kind: 'expired' };
  connection.run(statements.resolveWait, [
    decision,
    by,
    JSON.stringify(resolution),
    row.root,
    waitId,
  ]);
  const rootRunId = runIdOf(row.root);
  appendSignal(parts, rootRunId, resolvedWait(waitId));
  return { kind: 'resolved', rootRunId };
}
