import type { RunId, Wait } from '@hexagent/agent-core';
import type { Request } from './request.ts';

/** Waits that are read at once. */
const PAGE = 500;

/** All that a run has ever waited for, the oldest first. */
export async function waitsOf(
  { gateway, caller }: Pick<Request, 'gateway' | 'caller'>,
  runId: RunId,
): Promise<readonly Wait[]> {
  const waits: Wait[] = [];
  let after: string | undefined;
  do {
    const query = { runId, limit: PAGE, ...(after === undefined ? {} : { after }) };
    const { items, next } = await gateway.waits(query, caller);
    waits.push(...items);
    after = next;
  } while (after !== undefined);
  return waits;
}

export function isOpen({ status }: Pick<Wait, 'status'>): boolean {
  return status === 'pending';
}

/** The questions that are answered: where one of them was asked, no stream ends any more. */
export function answeredIds(waits: readonly Wait[]): readonly string[] {
  return waits.flatMap((wait) => (isOpen(wait) ? [] : [wait.id]));
}
