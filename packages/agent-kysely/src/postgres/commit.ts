import {
  type Commit,
  type CommitResult,
  isTerminal,
  type Lease,
  type RunState,
} from '@hexagent/agent-core';
import { lastSeen, notUnread, writtenBefore } from '../commit-rules.ts';
import { decodeKey } from '../key-order.ts';
import { lockConversation, lockInbox, lockWaits } from './commit-locks.ts';
import { writeCalls, writeChildren, writeWaits } from './commit-rows.ts';
import type { PostgresParts } from './parts.ts';
import {
  NOW,
  refuseWhen,
  type Statement,
  type StatementWriter,
  statementWriter,
} from './statement.ts';
import { checkValueKey, readValues, writeValues } from './values.ts';
import { writeRows } from './written.ts';

type CommitRow = {
  readonly kind: 'superseded' | 'again' | 'inbox-moved' | 'value-conflict' | 'go' | null;
  readonly version: number | null;
  readonly standing: number | null;
  readonly conflict: string | null;
  /** The run that the conversation is open for now, where that may have changed. */
  readonly next: string | null;
};

/** One commit: one statement, one round trip. */
export async function sendCommit(
  parts: PostgresParts,
  {
    lease,
    commit,
    signal,
  }: { readonly lease: Lease; readonly commit: Commit; readonly signal: AbortSignal },
): Promise<CommitResult> {
  const { consume = [] } = commit;
  if (new Set(consume).size !== consume.length) throw notUnread(lease.rootRunId, consume);
  for (const write of commit.values ?? []) checkValueKey(write);
  const [row] = await parts.database.run<CommitRow>(commitStatement(parts, lease, commit), {
    signal,
    retryOn: ['value_pk'],
    refused: (reason) =>
      reason === 'signal'
        ? notUnread(lease.rootRunId, consume)
        : writtenBefore(lease.rootRunId, `a row of the kind "${reason}"`),
  });
  switch (row?.kind) {
    case 'go':
      if (commit.events?.length) parts.grown(lease.rootRunId);
      if (row.next !== null || givesBack(lease, commit)) parts.claimable();
      return { kind: 'committed', version: row.version ?? 0 };
    case 'again':
      return { kind: 'committed', version: row.standing ?? 0 };
    case 'inbox-moved':
      return { kind: 'inbox-moved' };
    case 'value-conflict':
      return { kind: 'value-conflict', key: decodeKey(row.conflict ?? '') };
    default:
      return { kind: 'superseded' };
  }
}

/** Released while there is work to do: anybody may go on at once. */
function givesBack(lease: Lease, { runs, release }: Commit): boolean {
  const own = runs.find(({ runId }) => runId === lease.rootRunId);
  return release !== undefined && (own?.status === 'active' || own?.status === 'cancelling');
}

/**
 * Rows are locked in the order head, conversation, inbox, waits, values, in which everybody locks them;
 * the verdict is taken on the locked rows; every write selects from `cas`, which is empty unless the
 * verdict is `go`.
 */
function commitStatement(parts: PostgresParts, lease: Lease, commit: Commit): Statement {
  const { names } = parts;
  const writer = statementWriter('commit');
  const own = commit.runs.find((run) => run.runId === lease.rootRunId);
  const ended = own !== undefined && isTerminal(own.status);
  const root = writer.value(lease.rootRunId, 'text');
  writer.part(
    'head',
    `select id, fence, version, owner, last_commit_id, tenant, conversation from ${names.run} where id = ${root} and id = root for update`,
  );
  lockConversation(writer, parts, { commit, ended });
  lockInbox(writer, parts, { commit });
  lockWaits(writer, parts, commit);
  if (commit.values?.length) readValues(writer, commit.values, names);
  verdict(writer, lease, commit);
  moveHead(writer, parts, { commit, own, ended, root });
  const guards = [
    ...writeRows(writer, commit, { names, gate: 'cas', root: lease.rootRunId }),
    ...consumeSignals(writer, parts, commit),
  ];
  writeChildren(writer, parts, { commit, root: lease.rootRunId });
  writeCalls(writer, parts, commit);
  writeWaits(writer, parts, commit);
  if (commit.values?.length) writeValues(writer, 'cas', names);
  closeInbox(writer, parts, commit);
  leaveConversation(writer, parts, { commit, ended, root: lease.rootRunId });
  const answers = [
    '(select kind from verdict) as kind',
    '(select version from cas) as version',
    '(select version from head) as standing',
    `${commit.values?.length ? '(select min(key) from conflicts)' : 'null'} as conflict`,
    `${ended ? '(select min(open_root) from left_conversation)' : 'null'} as next`,
    ...guards.map((guard, index) => `${guard} as guard_${index}`),
  ];
  return writer.finish(`select ${answers.join(', ')}`);
}

type Ending = { readonly commit: Commit; readonly ended: boolean };

function verdict(writer: StatementWriter, lease: Lease, commit: Commit): void {
  const seen = lastSeen(commit);
  const cases = [
    `when head.fence <> ${writer.value(lease.fence, 'bigint')} then 'superseded'`,
    `when head.last_commit_id = ${writer.value(commit.commitId, 'text')} then 'again'`,
    `when head.owner is distinct from ${writer.value(lease.owner, 'text')} or head.version <> ${writer.value(lease.version, 'bigint')} then 'superseded'`,
  ];
  if (seen !== undefined) {
    const newest = '(select next - 1 from box)';
    cases.push(`when ${newest} > ${writer.value(seen, 'bigint')} then 'inbox-moved'`);
  }
  if (commit.moves?.length) {
    const count = writer.value(commit.moves.length, 'bigint');
    cases.push(`when (select count(*) from moving where fits) <> ${count} then 'inbox-moved'`);
  }
  if (commit.values?.length) {
    cases.push(`when exists (select 1 from conflicts) then 'value-conflict'`);
  }
  writer.part('verdict', `select case ${cases.join(' ')} else 'go' end as kind from head`);
}

function moveHead(
  writer: StatementWriter,
  { names }: PostgresParts,
  {
    commit,
    own,
    ended,
    root,
  }: Ending & { readonly own: RunState | undefined; readonly root: string },
): void {
  const { release } = commit;
  const sets = [
    'version = r.version + 1',
    `last_commit_id = ${writer.value(commit.commitId, 'text')}`,
    `last_seq = ${writer.value(commit.lastSeq, 'bigint')}`,
    `open_steps = ${writer.value(JSON.stringify(commit.openSteps), 'text')}`,
  ];
  if (own !== undefined) {
    sets.push(
      `agent = ${writer.value(own.agent, 'text')}`,
      `status = ${writer.value(own.status, 'text')}`,
      `status_at = ${writer.value(own.statusAt, 'bigint')}`,
      `state = ${writer.value(JSON.stringify(own), 'text')}`,
    );
  }
  if (commit.progress || commit.poison) sets.push('deliveries = 0');
  else if (release !== undefined) sets.push('deliveries = greatest(0, r.deliveries - 1)');
  if (ended || release !== undefined) {
    sets.push('owner = null', 'lease_until = null', 'released = 1');
  }
  if (release !== undefined) {
    const wake = release.wakeInMs;
    sets.push(
      wake === undefined
        ? 'wake_at = null'
        : `wake_at = ${NOW} + ${writer.value(Math.round(wake), 'bigint')}`,
    );
  }
  writer.part(
    'cas',
    `update ${names.run} r set ${sets.join(', ')} from verdict where r.id = ${root} and verdict.kind = 'go' returning r.id, r.version, r.tenant, r.user_id, r.conversation, r.format`,
  );
}

function consumeSignals(
  writer: StatementWriter,
  { names }: PostgresParts,
  { consume = [] }: Commit,
): readonly string[] {
  if (consume.length === 0) return [];
  writer.part(
    'consumed',
    `update ${names.signal} s set consumed_at = ${NOW}, wakes = 0 from cas where s.root = cas.id and s.seq = any(${writer.value(consume, 'bigint[]')}) and s.consumed_at is null returning 1`,
  );
  const count = writer.value(consume.length, 'bigint');
  const short = `exists (select 1 from cas) and (select count(*) from consumed) <> ${count}`;
  return [refuseWhen(short, 'signal')];
}

function closeInbox(writer: StatementWriter, { names }: PostgresParts, commit: Commit): void {
  if (commit.closeInbox === undefined) return;
  writer.part('closed', `update ${names.inbox} b set closed = 1 from cas where b.root = cas.id`);
  const consumed = writer.value(commit.consume ?? [], 'bigint[]');
  writer.part(
    'calmed',
    `update ${names.signal} s set wakes = 0 from cas where s.root = cas.id and s.wakes = 1 and s.seq <> all(${consumed})`,
  );
}

/** The next run of the conversation may start, and the one that ended becomes a turn. */
function leaveConversation(
  writer: StatementWriter,
  { names }: PostgresParts,
  { commit, ended, root }: Ending & { readonly root: string },
): void {
  const { settleTurn } = commit;
  if (!ended && settleTurn === undefined) return;
  const turned = writer.value(settleTurn?.conversationId ?? null, 'text');
  const id = writer.value(root, 'text');
  const sets = [`turns = c.turns + case when c.id = ${turned} then 1 else 0 end`];
  if (ended) {
    const first = `split_part(c.queue, ' ', 1)`;
    const isOpenHere = `c.open_root = ${id}`;
    const rest = `ltrim(substr(c.queue, length(${first}) + 1))`;
    const without = `array_to_string(array_remove(string_to_array(c.queue, ' '), ${id}), ' ')`;
    sets.push(
      `open_root = case when c.id <> cas.conversation then c.open_root when ${isOpenHere} then nullif(${first}, '') else c.open_root end`,
      `queue = case when c.id <> cas.conversation then c.queue when ${isOpenHere} then ${rest} else ${without} end`,
    );
  }
  writer.part(
    'left_conversation',
    `update ${names.conversation} c set ${sets.join(', ')} from cas where c.tenant = cas.tenant and c.id in (cas.conversation, ${turned}) returning c.tenant, c.id, c.turns, c.open_root`,
  );
  if (settleTurn === undefined) return;
  writer.part(
    'turned',
    `insert into ${names.turn} (tenant, conversation, n, root, run) select l.tenant, l.id, l.turns, ${id}, ${writer.value(settleTurn.runId, 'text')} from left_conversation l where l.id = ${turned}`,
  );
}
