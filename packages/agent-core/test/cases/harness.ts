import { expect } from 'vitest';
import {
  type DurableStore,
  type Message,
  type RunId,
  type RunTree,
  textOf,
} from '../../src/index.ts';
import { NEVER, type TestApp } from '../behaviours/harness.ts';

/** What every provider asks of a history: behind an answer exactly the results of its calls, and none elsewhere. */
export function expectValidHistory(messages: readonly Message[]): void {
  let open: string[] = [];
  for (const { role, parts } of messages) {
    for (const part of parts) {
      if (part.type !== 'tool-result') continue;
      expect(open, `a result of ${part.callId}`).toContain(part.callId);
      open = open.filter((callId) => callId !== part.callId);
    }
    if (role !== 'tool') expect(open, `open before "${textOf(parts)}"`).toEqual([]);
    open.push(...parts.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : [])));
  }
  expect(open).toEqual([]);
}

/** The messages of the last request, and that a provider takes them. */
export function lastHistory(app: TestApp): readonly Message[] {
  const messages = app.model.requests.at(-1)?.messages ?? [];
  expectValidHistory(messages);
  return messages;
}

/** Each call that the last request shows, as `tool: outcome`, in order. */
export function callsIn(app: TestApp): readonly string[] {
  const names = new Map<string, string>();
  return lastHistory(app).flatMap(({ parts }) =>
    parts.flatMap((part) => {
      if (part.type === 'tool-call') names.set(part.callId, part.toolName);
      return part.type === 'tool-result' ? [`${names.get(part.callId)}: ${part.outcome}`] : [];
    }),
  );
}

export async function treeOf(store: DurableStore, runId: RunId): Promise<RunTree> {
  const tree = await store.records.load(runId, { signal: NEVER });
  if (tree === undefined) throw new Error(`${runId} is not stored`);
  return tree;
}

/** How the calls of a run stand on its ledger, in order. */
export async function stagesOf(store: DurableStore, runId: RunId): Promise<readonly string[]> {
  return (await treeOf(store, runId)).calls.map(({ toolName, stage }) => `${toolName}: ${stage}`);
}
