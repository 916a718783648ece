import type { Commit } from '@hexagent/agent-core';
import { lastSeen } from '../commit-rules.ts';
import type { PostgresParts } from './parts.ts';
import type { StatementWriter } from './statement.ts';

/** Locks the conversation that an ending run leaves. */
export function lockConversation(
  writer: StatementWriter,
  { names }: PostgresParts,
  { commit, ended }: { readonly commit: Commit; readonly ended: boolean },
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

/** Locks the inbox when the commit depends on what has arrived, or closes it. */
export function lockInbox(
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

/** Locks the waits that move, and says which still are what they move from. */
export function lockWaits(
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
