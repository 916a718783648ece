import {
  type Caller,
  type Envelope,
  isTerminal,
  type RunGateway,
  type RunStatus,
  type Wait,
} from '@hexagent/agent-core';
import { type Expected, type ExpectedRun, isUndecided, type OpenQuestion } from './expected.ts';
import { TOOLS } from './plan.ts';
import type { Site } from './site.ts';

/** What the gateway shows of a run. */
export type Shown = {
  readonly status: RunStatus;
  readonly waits: readonly Wait[];
};

export class Disagreement extends Error {}

export function must(holds: boolean, why: string): asserts holds {
  if (!holds) throw new Disagreement(why);
}

export async function shown(site: Site, { runId }: ExpectedRun): Promise<Shown> {
  const { value, code } = await site.ask(async (app) => {
    const caller = site.caller(app);
    const { status } = await app.runs.get(runId, caller);
    return { status, waits: await allWaits(app.runs, runId, caller) };
  });
  must(value !== undefined, `${runId} cannot be looked at: ${code}`);
  return value;
}

async function allWaits(
  runs: RunGateway,
  runId: ExpectedRun['runId'],
  caller: Caller,
): Promise<readonly Wait[]> {
  const waits: Wait[] = [];
  let after: string | undefined;
  do {
    const page = await runs.waits({ runId, ...(after === undefined ? {} : { after }) }, caller);
    waits.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return waits;
}

/** Looks at every run, learns which questions are open, and compares with what may be expected. */
export async function look(expected: Expected, site: Site): Promise<void> {
  const questions: OpenQuestion[] = [];
  for (const run of expected.runs) {
    const { status, waits } = await shown(site, run);
    const pending = waits.filter((wait) => wait.status === 'pending');
    noteEvents(run, waits, site.clock.now());
    if (!isTerminal(status)) questions.push(...pending.map((wait) => questionOf(run, wait)));
    run.ended = isTerminal(status);
    compare(run, { status, pending, orphan: site.isOrphan(run.runId) });
  }
  expected.questions = questions;
  for (const { id, kind } of questions) if (kind === 'recovery') expected.doubts.add(id);
}

function questionOf(run: ExpectedRun, wait: Wait): OpenQuestion {
  const { id, kind, callId, expiresAt } = wait;
  return {
    id,
    kind,
    run,
    callId,
    call: callId === undefined ? undefined : run.placeOf(callId).call,
    expiresAt,
  };
}

/** What only the record says of a call that listens: whether an event was read in time, and that none came in time. */
function noteEvents(run: ExpectedRun, waits: readonly Wait[], now: number): void {
  for (const { id, status, callId, kind, expiresAt } of waits) {
    const call = callId === undefined ? undefined : run.placeOf(callId).call;
    const isRead = kind === 'event' && (status === 'resolved' || status === 'used');
    if (isRead && call?.unread !== undefined) call.decision ??= { said: call.unread };
    if (status !== 'expired' || call === undefined) continue;
    must(kind === 'event' && expiresAt !== undefined && expiresAt <= now, `${id} expired`);
    call.decision ??= 'nothing';
    must(call.decision === 'nothing', `${id} expired over its answer`);
  }
}

function compare(
  run: ExpectedRun,
  seen: {
    readonly status: RunStatus;
    readonly pending: readonly Wait[];
    readonly orphan: boolean;
  },
): void {
  const { status, pending, orphan } = seen;
  const { key, runId } = run;
  const what = `${key} (${runId}) is ${status} and waits for [${pending.map(({ id, kind }) => `${id} ${kind}`).join(', ')}]`;
  if (isTerminal(status)) {
    must(pending.length === 0, `${what}: it has ended`);
    must(
      status === (run.cancelled ? 'cancelled' : 'completed'),
      `${what}, cancelled: ${run.cancelled}`,
    );
    must(run.cancelled || run.at === run.calls.length, `${what}: batch ${run.at} is undecided`);
    return;
  }
  // It waits for its turn, or for somebody to begin with it.
  if (status === 'created') {
    must(pending.length === 0, what);
    return;
  }
  for (const { callId, kind, id } of pending) {
    if (callId === undefined) {
      must(kind === 'recovery', `${what}: ${id} is a question of the run`);
      continue;
    }
    const { batch, call } = run.placeOf(callId);
    must(batch <= run.at, `${what}: batch ${run.at} is undecided`);
    if (kind === 'recovery') must(TOOLS[call.tool].unsafe, `${what}: ${call.tool} is in no doubt`);
    else must(orphan || isUndecided(call), `${what}: ${id} has been decided`);
  }
  // What a dead machine holds, and what a person holds, goes on later.
  if (orphan || run.paused || run.cancelUnread) return;
  must(!run.cancelled, `${what}: it was cancelled`);
  must(status === 'interrupted', `${what}: nobody holds it`);
  if (pending.some(({ kind }) => kind === 'recovery')) return;
  const undecided = (run.calls[run.at] ?? [])
    .filter(isUndecided)
    .map(({ id, tool }) => `${tool} ${id}`);
  const asked = pending.flatMap(({ callId }) => {
    const call = callId === undefined ? undefined : run.placeOf(callId).call;
    return call === undefined ? [] : [`${call.tool} ${call.id}`];
  });
  must(
    JSON.stringify([...asked].sort()) === JSON.stringify([...undecided].sort()),
    `${what}: undecided are [${undecided.join(', ')}]`,
  );
}

/** All that is in the log of a run. */
export async function logOf(site: Site, { runId }: ExpectedRun): Promise<readonly Envelope[]> {
  const { value, code } = await site.ask(async (app) => {
    const envelopes: Envelope[] = [];
    for (let cursor = 0; ; ) {
      for await (const batch of app.runs.watch(runId, { after: cursor }, site.caller(app)))
        envelopes.push(...batch);
      const last = envelopes.at(-1)?.seq ?? cursor;
      if (last === cursor) return envelopes;
      cursor = last;
    }
  });
  must(value !== undefined, `the log of ${runId} cannot be read: ${code}`);
  return value;
}
