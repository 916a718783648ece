import { type Naming, quoted, TABLE_NAMES, type TableName } from '../tables.ts';

/** `insert into` with every column named, so that the order of parameters is written beside them. */
function insertion(table: string, columns: readonly string[]): string {
  return `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`;
}

/** The statements of the write paths, written once for a naming of tables. */
export function sqliteStatements(naming: Naming) {
  const names = Object.fromEntries(
    TABLE_NAMES.map((table) => [table, quoted(naming, table)]),
  ) as Readonly<Record<TableName, string>>;
  const { run, call, message, wait, evidence, event, inbox, signal } = names;
  const { conversation, turn, value } = names;
  const runColumns = [
    'id',
    'root',
    'tenant',
    'user_id',
    'conversation',
    'agent',
    'status',
    'status_at',
    'state',
    'principal',
    'input',
    'request_key',
    'format',
    'version',
    'fence',
    'owner',
    'lease_until',
    'deliveries',
    'last_seq',
    'open_steps',
    'released',
    'pruned_through',
  ];
  return {
    headForCommit: `select fence, version, owner, last_commit_id, deliveries, lease_until, wake_at, tenant, user_id, conversation, format from ${run} where id = ? and id = root`,
    runByRequest: `select id, state from ${run} where tenant = ? and request_key = ?`,
    runById: `select id from ${run} where id = ?`,
    insertRun: insertion(run, runColumns),
    upsertChild: `${insertion(run, runColumns)} on conflict (id) do update set agent = excluded.agent, status = excluded.status, status_at = excluded.status_at, state = excluded.state`,
    moveHead: `update ${run} set agent = ?, status = ?, status_at = ?, state = ?, version = version + 1, last_commit_id = ?, last_seq = ?, open_steps = ?, deliveries = ?, owner = ?, lease_until = ?, released = ?, wake_at = ? where id = ?`,
    moveHeadOnly: `update ${run} set version = version + 1, last_commit_id = ?, last_seq = ?, open_steps = ?, deliveries = ?, owner = ?, lease_until = ?, released = ?, wake_at = ? where id = ?`,

    lastEvent: `select max(last_seq) as seq from ${event} where root = ?`,
    lastEvidence: `select max(seq) as seq from ${evidence} where root = ?`,
    insertMessage: insertion(message, ['root', 'run', 'seq', 'message', 'replaces']),
    insertEvent: insertion(event, [
      'root',
      'first_seq',
      'last_seq',
      'run',
      'agent',
      'step',
      'at',
      'event',
      'ends',
    ]),
    insertEvidence: insertion(evidence, [
      'root',
      'seq',
      'run',
      'kind',
      'at',
      'manifest_ref',
      'payload',
      'salt',
      'payload_digest',
      'previous_hash',
      'hash',
    ]),
    upsertCall: `${insertion(call, ['id', 'root', 'run', 'step', 'stage', 'record'])} on conflict (root, id) do update set stage = excluded.stage, record = excluded.record`,

    waitById: `select * from ${wait} where root = ? and id = ?`,
    insertWait: insertion(wait, [
      'id',
      'root',
      'run',
      'tenant',
      'user_id',
      'kind',
      'status',
      'digest',
      'opened_at',
      'expires_at',
      'question',
      'decision',
      'resolved_by',
      'resolution',
    ]),
    moveWait: `update ${wait} set status = ? where root = ? and id = ?`,
    voidWaits: `update ${wait} set status = 'void' where root = ? and status in ('pending', 'resolved')`,
    resolveWait: `update ${wait} set status = 'resolved', decision = ?, resolved_by = ?, resolution = ? where root = ? and id = ?`,

    inbox: `select next, closed from ${inbox} where root = ?`,
    insertInbox: insertion(inbox, ['root', 'next', 'closed']),
    advanceInbox: `update ${inbox} set next = next + 1 where root = ?`,
    closeInbox: `update ${inbox} set closed = 1 where root = ?`,
    signalByKey: `select seq from ${signal} where root = ? and dedupe_key = ?`,
    insertSignal: insertion(signal, [
      'root',
      'seq',
      'kind',
      'payload',
      'dedupe_key',
      'at',
      'wakes',
    ]),
    consumeSignal: `update ${signal} set consumed_at = ?, wakes = 0 where root = ? and seq = ? and consumed_at is null`,
    calmSignals: `update ${signal} set wakes = 0 where root = ? and wakes = 1`,
    unread: `select 1 from ${signal} where root = ? and consumed_at is null limit 1`,

    conversation: `select owner, open_root, queue from ${conversation} where tenant = ? and id = ?`,
    insertConversation: insertion(conversation, [
      'tenant',
      'id',
      'owner',
      'open_root',
      'queue',
      'turns',
    ]),
    placeConversation: `update ${conversation} set open_root = ?, queue = ? where tenant = ? and id = ?`,
    countTurn: `update ${conversation} set turns = turns + 1 where tenant = ? and id = ? returning turns`,
    insertTurn: insertion(turn, ['tenant', 'conversation', 'n', 'root', 'run']),

    claimable: claimable(names),
    claim: `update ${run} set fence = fence + 1, deliveries = deliveries + 1, owner = ?, lease_until = ?, released = 0 where id = ?`,
    heartbeat: `update ${run} set lease_until = ? where id = ? and fence = ? and owner = ?`,

    value: `select value, version, expires_at from ${value} where tenant = ? and namespace = ? and key = ?`,
    putValue: `${insertion(value, ['tenant', 'namespace', 'key', 'value', 'version', 'expires_at'])} on conflict (tenant, namespace, key) do update set value = excluded.value, version = excluded.version, expires_at = excluded.expires_at`,
    deleteValue: `delete from ${value} where tenant = ? and namespace = ? and key = ?`,

    eraseEvidence: `update ${evidence} set payload = null, salt = null where root = ? and seq = ? and (payload is not null or salt is not null)`,
    ended: `select id from ${run} where id = root and status in ('completed', 'failed', 'cancelled') and status_at < ?1 and (?2 is null or tenant = ?2) and (?3 is null or user_id = ?3) and (?4 = 0 or input is not null)`,
    prune: ([call, message, wait, event, signal, turn] as const).map(
      (table) => `delete from ${table} where root = ?`,
    ),
    stripRun: `update ${run} set input = null, pruned_through = last_seq where id = ?`,
    prunableEvents: `select max(e.last_seq) as through, count(*) as count from ${event} e where e.root = ?1 and e.last_seq <= ?2 and e.last_seq < coalesce((select min(o.first_seq) from ${event} o where o.root = ?1 and o.step in (select value from json_each((select open_steps from ${run} where id = ?1)))), ${Number.MAX_SAFE_INTEGER})`,
    pruneEvents: `delete from ${event} where root = ? and last_seq <= ?`,
    prunedThrough: `update ${run} set pruned_through = ? where id = ?`,
    forget: ([evidence, inbox, run] as const).map((table) => `delete from ${table} where root = ?`),
  };
}

export type SqliteStatements = ReturnType<typeof sqliteStatements>;

/** Who may claim, derived from data: `where id = ?` or `agent in (…)` is put in front. */
function claimable(names: Readonly<Record<TableName, string>>): {
  readonly one: string;
  readonly next: string;
} {
  const columns =
    'r.id, r.fence, r.version, r.deliveries, r.last_seq, r.open_steps, r.released, r.conversation';
  const free = '(r.owner is null or r.lease_until <= ?2) and r.id = r.root and r.format <= ?3';
  const isFirst = `exists (select 1 from ${names.conversation} c where c.tenant = r.tenant and c.id = r.conversation and c.open_root = r.id)`;
  const isCancelled = `exists (select 1 from ${names.signal} s where s.root = r.id and s.wakes = 1 and s.kind = 'cancel')`;
  const isDue = `exists (select 1 from ${names.wait} w where w.root = r.id and w.status = 'pending' and w.expires_at <= ?2)`;
  const isSignalled = `exists (select 1 from ${names.signal} s where s.root = r.id and s.wakes = 1)`;
  const predicate = `case r.status when 'active' then 1 when 'cancelling' then 1 when 'created' then ${isFirst} or ${isCancelled} when 'interrupted' then r.wake_at <= ?2 or ${isSignalled} or ${isDue} else 0 end`;
  const agents = 'r.agent in (select value from json_each(?1))';
  const candidates = [
    `select r.id, r.status_at from ${names.run} r where r.status in ('created', 'active', 'cancelling') and ${agents} and ${free} and ${predicate}`,
    `select r.id, r.status_at from ${names.signal} s join ${names.run} r on r.id = s.root where s.wakes = 1 and r.status = 'interrupted' and ${agents} and ${free}`,
    `select r.id, r.status_at from ${names.wait} w join ${names.run} r on r.id = w.root where w.status = 'pending' and w.expires_at <= ?2 and r.status = 'interrupted' and ${agents} and ${free}`,
    `select r.id, r.status_at from ${names.run} r where r.wake_at <= ?2 and r.status = 'interrupted' and ${agents} and ${free}`,
  ];
  return {
    one: `select ${columns} from ${names.run} r where r.id = ?1 and ${free} and ${predicate}`,
    next: `select ${columns} from ${names.run} r where r.id = (select id from (${candidates.join(' union all ')}) order by status_at limit 1)`,
  };
}
