import { type Creation, FORMAT, type RunOwnership, type RunState } from '@hexagent/agent-core';
import { replacedBy } from '../wake-ups.ts';
import type { PostgresParts } from './parts.ts';
import { NOW, type Statement, statementWriter } from './statement.ts';
import { writeRows } from './written.ts';

type First = Parameters<RunOwnership['create']>[1];

/**
 * Creates a run in one statement. The conversation's row decides who is first: it is written before
 * anything else, so two creations of one conversation queue there.
 */
export function createStatement(
  { names }: PostgresParts,
  run: RunState,
  { first, options }: { readonly first: First; readonly options: Creation },
): Statement {
  const { principal, requestKey, admission, claim } = options;
  const writer = statementWriter('create');
  const id = writer.value(run.runId, 'text');
  const tenant = writer.value(principal.scope.tenantId, 'text');
  const user = writer.value(principal.scope.userId ?? null, 'text');
  const conversation = writer.value(run.conversationId, 'text');
  const key = writer.value(requestKey ?? null, 'text');
  writer.part(
    'known',
    `select id, state from ${names.run} where tenant = ${tenant} and request_key = ${key}`,
  );
  const queue =
    admission === 'reject'
      ? 'c.queue'
      : `case when c.open_root is null then c.queue else ltrim(c.queue || ' ' || ${id}) end`;
  writer.part(
    'place',
    `insert into ${names.conversation} as c (tenant, id, owner, open_root, queue, turns) select ${tenant}, ${conversation}, ${user}, ${id}, '', 0 where not exists (select 1 from known) on conflict (tenant, id) do update set open_root = coalesce(c.open_root, excluded.open_root), queue = ${queue} where c.owner is not distinct from excluded.owner returning c.open_root`,
  );
  writer.part(
    'admitted',
    `select open_root = ${id} as is_first, open_root from place${admission === 'reject' ? ` where open_root = ${id}` : ''}`,
  );
  const owned = (yes: string, no: string): string =>
    `case when a.is_first then ${yes} else ${no} end`;
  const ownership =
    claim === undefined
      ? ['0', 'null', 'null', '0', '1']
      : [
          owned('1', '0'),
          owned(writer.value(claim.owner, 'text'), 'null'),
          owned(`${NOW} + ${writer.value(Math.round(claim.ttlMs), 'bigint')}`, 'null'),
          owned('1', '0'),
          owned('0', '1'),
        ];
  writer.part(
    'made',
    `insert into ${names.run} (id, root, tenant, user_id, conversation, agent, status, status_at, state, principal, input, request_key, format, version, last_seq, open_steps, pruned_through, fence, owner, lease_until, deliveries, released) select ${id}, ${id}, ${tenant}, ${user}, ${conversation}, ${writer.value(run.agent, 'text')}, ${writer.value(run.status, 'text')}, ${writer.value(run.statusAt, 'bigint')}, ${writer.value(JSON.stringify(run), 'text')}, ${writer.value(JSON.stringify(principal), 'text')}, ${writer.value(JSON.stringify(first.input), 'text')}, ${key}, ${writer.value(FORMAT, 'bigint')}, 0, ${writer.value(first.lastSeq, 'bigint')}, '[]', 0, ${ownership.join(', ')} from admitted a returning id`,
  );
  writer.part('boxed', `insert into ${names.inbox} (root, next, closed) select id, 1, 0 from made`);
  const guards = writeRows(writer, first, { names, gate: 'made', root: run.runId });
  if (admission === 'interrupt') {
    const { kind, payload, dedupeKey } = replacedBy(run.runId, principal.subject);
    writer.part(
      'interrupted',
      `update ${names.inbox} b set next = b.next + 1 from admitted a where not a.is_first and b.root = a.open_root and b.closed = 0 returning b.root, b.next - 1 as seq`,
    );
    writer.part(
      'cancelled',
      `insert into ${names.signal} (root, seq, kind, payload, dedupe_key, at, wakes) select root, seq, ${writer.value(kind, 'text')}, ${writer.value(JSON.stringify(payload), 'text')}, ${writer.value(dedupeKey, 'text')}, ${NOW}, 1 from interrupted`,
    );
  }
  return writer.finish(
    `select (select state from known) as known, (select id from known) as known_id, exists (select 1 from place) as found, (select open_root from place) as open_root, exists (select 1 from made) as is_created, ${NOW} as claimed_at${guards.map((guard, index) => `, ${guard} as guard_${index}`).join('')}`,
  );
}
