import type { RunId } from '@hexagent/agent-core';
import type { PostgresParts } from './parts.ts';
import { NOW, type Statement, statementWriter } from './statement.ts';

type ClaimOptions = {
  readonly owner: string;
  readonly ttlMs: number;
  readonly agents: readonly string[];
  readonly format: number;
};

/**
 * Takes one run that is claimable. The candidates come from small indexes, the predicate is the truth:
 * it is compared again when the row is locked.
 */
export function claimStatement(
  { names }: PostgresParts,
  target: RunId | 'next',
  { owner, ttlMs, agents, format }: ClaimOptions,
): Statement {
  const writer = statementWriter(target === 'next' ? 'claim_next' : 'claim');
  const free = `(r.owner is null or r.lease_until <= ${NOW}) and r.id = r.root and r.format <= ${writer.value(format, 'bigint')}`;
  const isFirst = `exists (select 1 from ${names.conversation} c where c.tenant = r.tenant and c.id = r.conversation and c.open_root = r.id)`;
  const isCancelled = `exists (select 1 from ${names.signal} s where s.root = r.id and s.wakes = 1 and s.kind = 'cancel')`;
  const due = (wait: string): string =>
    `${wait}.status = 'pending' and ${wait}.expires_at <= (select at from clock)`;
  const isDue = `exists (select 1 from ${names.wait} w where w.root = r.id and ${due('w')})`;
  const isSignalled = `exists (select 1 from ${names.signal} s where s.root = r.id and s.wakes = 1)`;
  const isReady = `case r.status when 'active' then true when 'cancelling' then true when 'created' then ${isFirst} or ${isCancelled} when 'interrupted' then r.wake_at <= ${NOW} or ${isSignalled} or ${isDue} else false end`;
  writer.part('clock', `select ${NOW} as at`);
  if (target === 'next') {
    const isOurs = `r.agent = any(${writer.value(agents, 'text[]')})`;
    const held = `r.status = 'interrupted' and ${isOurs}`;
    writer.part(
      'candidate',
      [
        `select r.id from ${names.run} r where r.id = r.root and r.status in ('created', 'active', 'cancelling') and ${isOurs}`,
        `select r.id from ${names.signal} s join ${names.run} r on r.id = s.root where s.wakes = 1 and ${held}`,
        `select r.id from ${names.wait} w join ${names.run} r on r.id = w.root where ${due('w')} and ${held}`,
        `select r.id from ${names.run} r where r.wake_at <= (select at from clock) and ${held}`,
      ].join(' union '),
    );
  }
  const which =
    target === 'next'
      ? 'r.id in (select id from candidate)'
      : `r.id = ${writer.value(target, 'text')}`;
  const order =
    target === 'next'
      ? 'order by r.status_at limit 1 for update of r skip locked'
      : 'for update of r';
  writer.part(
    'found',
    `select r.id, r.released from ${names.run} r where ${which} and ${free} and ${isReady} ${order}`,
  );
  const until = `${NOW} + ${writer.value(Math.round(ttlMs), 'bigint')}`;
  writer.part(
    'taken',
    `update ${names.run} r set fence = r.fence + 1, deliveries = r.deliveries + 1, owner = ${writer.value(owner, 'text')}, lease_until = ${until}, released = 0 from found where r.id = found.id returning r.id, r.fence, r.version, r.deliveries, r.last_seq, r.open_steps, found.released`,
  );
  return writer.finish(`select taken.*, ${NOW} as claimed_at from taken`);
}
