import {
  isControl,
  type ResolveResult,
  type RunId,
  type RunInbox,
  type RunSignal,
  rootOf,
} from '@hexagent/agent-core';
import { checkKeys } from '../keys.ts';
import { shownWait } from '../records.ts';
import type { WaitRow } from '../tables.ts';
import { resolvedWait } from '../wake-ups.ts';
import type { PostgresParts } from './parts.ts';
import { NOW, type StatementWriter, statementWriter } from './statement.ts';

/** What outsiders write. */
export function postgresInbox(parts: PostgresParts): Pick<RunInbox, 'append' | 'resolve'> {
  return {
    append: (rootRunId, signal, stop) => append(parts, { rootRunId, signal, stop: stop.signal }),
    resolve: (waitId, answer, { signal }) => resolve(parts, { waitId, answer, signal }),
  };
}

type NewSignal = Omit<RunSignal, 'seq' | 'at'>;
type Appending = {
  readonly rootRunId: RunId;
  readonly signal: NewSignal;
  readonly stop: AbortSignal;
};

async function append(
  { database, names, claimable }: PostgresParts,
  { rootRunId, signal, stop }: Appending,
): ReturnType<RunInbox['append']> {
  checkKeys({ dedupeKey: signal.dedupeKey });
  const writer = statementWriter('append');
  const root = writer.value(rootRunId, 'text');
  const key = writer.value(signal.dedupeKey, 'text');
  const known = `exists (select 1 from ${names.signal} where root = ${root} and dedupe_key = ${key})`;
  writer.part('box', `select next, closed from ${names.inbox} where root = ${root} for update`);
  writer.part('known', `select ${known} as yes`);
  insertSignal(writer, {
    signal,
    names,
    gate: 'box, known where box.closed = 0 and not known.yes',
    root,
  });
  type Row = {
    readonly known: boolean;
    readonly is_open: boolean | null;
    readonly appended: boolean;
  };
  const [row] = await database.run<Row>(
    writer.finish(
      `select (select yes from known) as known, (select closed = 0 from box) as is_open, exists (select 1 from appended) as appended`,
    ),
    { signal: stop },
  );
  if (row?.appended) {
    if (isControl(signal.kind)) claimable();
    return 'appended';
  }
  if (row?.known || row?.is_open) return 'duplicate';
  // The inbox may have been closed right after somebody with the same key was faster.
  const check = statementWriter('known_signal');
  check.part(
    'known',
    `select 1 from ${names.signal} where root = ${check.value(rootRunId, 'text')} and dedupe_key = ${check.value(signal.dedupeKey, 'text')}`,
  );
  const found = await database.run(check.finish('select * from known'), { signal: stop });
  return found.length > 0 ? 'duplicate' : 'terminal';
}

/** Adds a signal behind the locked inbox row, unless its key is there. */
function insertSignal(
  writer: StatementWriter,
  {
    signal,
    names,
    gate,
    root,
  }: {
    readonly signal: NewSignal;
    readonly names: PostgresParts['names'];
    readonly gate: string;
    readonly root: string;
  },
): void {
  const { kind, payload, dedupeKey } = signal;
  const values = [
    root,
    'box.next',
    writer.value(kind, 'text'),
    writer.value(JSON.stringify(payload), 'text'),
    writer.value(dedupeKey, 'text'),
    NOW,
    writer.value(isControl(kind) ? 1 : 0, 'bigint'),
  ];
  writer.part(
    'appended',
    `insert into ${names.signal} (root, seq, kind, payload, dedupe_key, at, wakes) select ${values.join(', ')} from ${gate} on conflict (root, dedupe_key) do nothing returning seq`,
  );
  writer.part(
    'advanced',
    `update ${names.inbox} b set next = b.next + 1 from appended where b.root = ${root}`,
  );
}

type Resolving = {
  readonly waitId: Parameters<RunInbox['resolve']>[0];
  readonly answer: Parameters<RunInbox['resolve']>[1];
  readonly signal: AbortSignal;
};

/** Reads what cannot change and refuses by it; the compare-and-swap decides, by the store's clock. */
async function resolve(parts: PostgresParts, resolving: Resolving): Promise<ResolveResult> {
  const { waitId, answer, signal } = resolving;
  for (;;) {
    const row = await readWait(parts, resolving);
    if (row === undefined) return { kind: 'unknown' };
    const wait = shownWait(row);
    if (wait.status !== 'pending') return { kind: 'already', wait };
    if (wait.digest !== answer.digest) return { kind: 'digest-mismatch' };
    if (!wait.allowed.includes(answer.decision)) return { kind: 'not-allowed' };
    if (wait.expiresAt !== undefined && wait.expiresAt <= row.now) return { kind: 'expired' };
    if (await swapWait(parts, resolving)) {
      parts.claimable();
      return { kind: 'resolved', rootRunId: rootOf(waitId) };
    }
    signal.throwIfAborted();
  }
}

async function readWait(
  { database, names }: PostgresParts,
  { waitId, signal }: Resolving,
): Promise<(WaitRow & { readonly now: number }) | undefined> {
  const writer = statementWriter('wait');
  writer.part(
    'found',
    `select *, ${NOW} as now from ${names.wait} where root = ${writer.value(rootOf(waitId), 'text')} and id = ${writer.value(waitId, 'text')}`,
  );
  const [row] = await database.run<WaitRow & { readonly now: number }>(
    writer.finish('select * from found'),
    { signal },
  );
  return row;
}

async function swapWait(
  { database, names }: PostgresParts,
  { waitId, answer, signal }: Resolving,
): Promise<boolean> {
  const writer = statementWriter('resolve');
  const root = writer.value(rootOf(waitId), 'text');
  const { decision, by, resolution } = answer;
  writer.part('box', `select root, next from ${names.inbox} where root = ${root} for update`);
  writer.part(
    'won',
    `update ${names.wait} w set status = 'resolved', decision = ${writer.value(decision, 'text')}, resolved_by = ${writer.value(by, 'text')}, resolution = ${writer.value(JSON.stringify(resolution), 'text')} from box where w.id = ${writer.value(waitId, 'text')} and w.root = box.root and w.status = 'pending' and (w.expires_at is null or w.expires_at > ${NOW}) returning 1`,
  );
  insertSignal(writer, { signal: resolvedWait(waitId), names, gate: 'box, won', root });
  const [row] = await database.run<{ readonly won: boolean }>(
    writer.finish('select exists (select 1 from won) as won'),
    { signal },
  );
  return row?.won === true;
}
