import {
  type Commit,
  type CommitResult,
  isTerminal,
  type Lease,
  type RunState,
} from '@hexagent/agent-core';
import { lastSeen, notUnread, writtenBefore } from '../commit-rules.ts';
import { decodeKey } from '../key-order.ts';
import { questionText } from '../records.ts';
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
    ...guards.map((guard, index) => `${guard} as guard_${index}`),
  ];
  return writer.finish(`select ${answers.join(', ')}`);
}

type Ending = { readonly commit: Commit; readonly ended: boolean };

function lockConversation(
  writer: StatementWriter,
  { names }: PostgresParts,
  { commit, ended }: Ending,
): void {
  if (!ended && commit.settleTurn === undefined) return;
  writer.part(
    'place',
    `select c.id from ${names.conversation} c, head where c.tenant = head.tenant and c.id = head.conversation for update of c`,
  );
}

/** A sub-select that makes what it is joined to wait until the rows of a part are locked. */
function after(writer: StatementWriter, ...parts: readonly string[]): string {
  return parts
    .filter((part) => writer.has(part))
    .map((part) => `, (select count(*) from ${part}) as after_${part}`)
    .join('');
}

function lockInbox(
  writer: StatementWriter,
  { names }: PostgresParts,
  { commit }: { readonly commit: Commit },
): void {
  if (lastSeen(commit) === undefined && commit.closeInbox === undefined) return;
  writer.part(
    'box',
    `select b.next from ${names.inbox} b, head${after(writer, 'place')} where b.root = head.id for update of b`,
  );
}

function lockWaits(
  writer: StatementWriter,
  { names }: PostgresParts,
  { moves = [] }: Commit,
): void {
  if (moves.length === 0) return;
  const rows = writer.value(
    JSON.stringify(moves.map(({ id, from }) => ({ id, from: from.join(' ') }))),
    'json',
  );
  writer.part(
    'moving',
    `select w.id, w.status = any(string_to_array(m."from", ' ')) as fits from ${names.wait} w, json_to_recordset(${rows}) as m(id text, "from" text), head${after(writer, 'box')} where w.id = m.id and w.root = head.id order by w.id for update of w`,
  );
}

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

function writeChildren(
  writer: StatementWriter,
  { names }: PostgresParts,
  { commit, root }: { readonly commit: Commit; readonly root: string },
): void {
  const children = commit.runs.filter((run) => run.runId !== root);
  if (children.length === 0) return;
  const rows = writer.value(
    JSON.stringify(
      children.map((run) => ({
        id: run.runId,
        conversation: run.conversationId,
        agent: run.agent,
        status: run.status,
        at: run.statusAt,
        state: JSON.stringify(run),
      })),
    ),
    'json',
  );
  writer.part(
    'children',
    `insert into ${names.run} (id, root, tenant, user_id, conversation, agent, status, status_at, state, format, version, fence, deliveries, last_seq, open_steps, released, pruned_through) select x.id, cas.id, cas.tenant, cas.user_id, x.conversation, x.agent, x.status, x.at, x.state, cas.format, 0, 0, 0, 0, '[]', 0, 0 from cas, json_to_recordset(${rows}) as x(id text, conversation text, agent text, status text, at bigint, state text) on conflict (id) do update set agent = excluded.agent, status = excluded.status, status_at = excluded.status_at, state = excluded.state`,
  );
}

function writeCalls(
  writer: StatementWriter,
  { names }: PostgresParts,
  { calls = [] }: Commit,
): void {
  if (calls.length === 0) return;
  const rows = writer.value(
    JSON.stringify(
      calls.map((call) => ({
        id: call.callId,
        run: call.runId,
        step: call.step,
        stage: call.stage,
        record: JSON.stringify(call),
      })),
    ),
    'json',
  );
  writer.part(
    'calls',
    `insert into ${names.call} (id, root, run, step, stage, record) select x.id, cas.id, x.run, x.step, x.stage, x.record from cas, json_to_recordset(${rows}) as x(id text, run text, step bigint, stage text, record text) on conflict (root, id) do update set stage = excluded.stage, record = excluded.record`,
  );
}

const isOpen = (status: string): boolean => status === 'pending' || status === 'resolved';

function writeWaits(writer: StatementWriter, { names }: PostgresParts, commit: Commit): void {
  const { opens = [], moves = [], voidWaits } = commit;
  const settled = <T extends string>(status: T): T | 'void' =>
    voidWaits !== undefined && isOpen(status) ? 'void' : status;
  if (moves.length > 0) {
    const rows = writer.value(
      JSON.stringify(moves.map(({ id, to }) => ({ id, status: settled(to) }))),
      'json',
    );
    writer.part(
      'moved',
      `update ${names.wait} w set status = m.status from cas, json_to_recordset(${rows}) as m(id text, status text) where w.root = cas.id and w.id = m.id`,
    );
  }
  if (voidWaits !== undefined) {
    const elsewhere = writer.value(
      moves.map(({ id }) => id),
      'text[]',
    );
    writer.part(
      'voided',
      `update ${names.wait} w set status = 'void' from cas where w.root = cas.id and w.status in ('pending', 'resolved') and w.id <> all(${elsewhere})`,
    );
  }
  if (opens.length === 0) return;
  const rows = writer.value(
    JSON.stringify(
      opens.map((wait) => ({
        id: wait.id,
        run: wait.runId,
        kind: wait.kind,
        status: settled(wait.status),
        digest: wait.digest,
        opened: wait.openedAt,
        ttl: wait.ttlMs === undefined ? null : Math.round(wait.ttlMs),
        question: questionText(wait),
        decision: wait.decision,
        by: wait.resolvedBy,
        resolution: wait.resolution === undefined ? null : JSON.stringify(wait.resolution),
      })),
    ),
    'json',
  );
  // One moment for all of them, after the locks.
  writer.part('moment', `select ${NOW} as at from cas`);
  writer.part(
    'opened',
    `insert into ${names.wait} (id, root, run, tenant, user_id, kind, status, digest, opened_at, expires_at, question, decision, resolved_by, resolution) select x.id, cas.id, x.run, cas.tenant, cas.user_id, x.kind, x.status, x.digest, x.opened, moment.at + x.ttl, x.question, x.decision, x.by, x.resolution from cas, moment, json_to_recordset(${rows}) as x(id text, run text, kind text, status text, digest text, opened bigint, ttl bigint, question text, decision text, by text, resolution text)`,
  );
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
    `update ${names.conversation} c set ${sets.join(', ')} from cas where c.tenant = cas.tenant and c.id in (cas.conversation, ${turned}) returning c.tenant, c.id, c.turns`,
  );
  if (settleTurn === undefined) return;
  writer.part(
    'turned',
    `insert into ${names.turn} (tenant, conversation, n, root, run) select l.tenant, l.id, l.turns, ${id}, ${writer.value(settleTurn.runId, 'text')} from left_conversation l where l.id = ${turned}`,
  );
}
