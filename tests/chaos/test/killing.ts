import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentEvent, type RunId, verifyEvidence } from '@hexagent/agent-core';
import { openKyselyStore } from '@hexagent/agent-kysely';
import { expect, onTestFinished } from 'vitest';
import { effectsIn, type Safety } from '../src/clerk.ts';
import type { ClerkOrder } from '../src/clerk-process.ts';
import { startClerk } from './clerk-process.ts';

/** Where a process is killed, and what the next one has to find out. */
export type CrashPoint = {
  readonly at: string;
  /** Of an unsafe tool a person is asked then; this is the truth. Absent: nobody is asked. */
  readonly truth?: 'happened' | 'did-not-happen';
};

/**
 * A process that takes the run from its start to its end is killed at one point; another one finishes.
 * The effect happened once, the run has one end, and its evidence holds.
 */
export async function survivesKill(
  url: string,
  { point, safety }: { readonly point: CrashPoint; readonly safety: Safety },
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hexagent-chaos-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const order: ClerkOrder = {
    url: url.replace('FOLDER', folder),
    file: join(folder, 'ledger'),
    safety,
    ...(point.truth === undefined ? {} : { recovery: point.truth }),
  };

  await killedAt({ ...order, stopAt: point.at });
  const said = await startClerk(order).ended;

  const end = said.at(-1);
  if (end === undefined || !('ended' in end)) throw new Error(JSON.stringify(said));
  expect(end.ended).toBe('completed');
  const questions = said.filter((line) => 'asked' in line && line.asked === 'recovery');
  expect(questions).toHaveLength(safety === 'unsafe' && point.truth !== undefined ? 1 : 0);
  expect(effectsIn(order.file)).toHaveLength(1);
  await recordHolds(order.url, end.runId);
}

async function killedAt(order: ClerkOrder): Promise<void> {
  const victim = startClerk(order);
  let isThere = false;
  for await (const line of victim.lines) {
    isThere = 'at' in line && line.at === order.stopAt;
    if (isThere) break;
  }
  if (!isThere)
    throw new Error(`"${order.stopAt}" was never reached: ${JSON.stringify(await victim.ended)}`);
  victim.child.kill('SIGKILL');
  await victim.ended;
  expect(victim.child.signalCode).toBe('SIGKILL');
}

async function recordHolds(url: string, runId: RunId): Promise<void> {
  const { store, close } = await openKyselyStore(url);
  onTestFinished(close);
  const all = { after: 0, limit: 1_000, signal: new AbortController().signal };
  const rows = await store.log.read(runId, all);
  const types = rows.map(({ event }) => event.type);
  const count = (type: AgentEvent['type']): number => types.filter((each) => each === type).length;
  expect(count('run-finished')).toBe(1);
  expect(types.at(-1)).toBe('run-finished');
  expect(count('tool-call-result')).toBe(1);
  expect(count('run-started')).toBe(1);
  const evidence = await store.records.evidence(runId, all);
  expect(evidence.length).toBeGreaterThan(0);
  expect(verifyEvidence(evidence)).toBeUndefined();
}
