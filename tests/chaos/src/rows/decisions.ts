import { setTimeout as pause } from 'node:timers/promises';
import type { RunId } from '@hexagent/agent-core';
import { ENTRIES, type ToolKind } from '../child/order.ts';
import type { Cell } from '../matrix/cell.ts';
import type { Expected } from '../matrix/checks.ts';
import type { Child } from '../matrix/child-process.ts';
import { readRecord } from '../matrix/record.ts';
import { type Case, doubtsOf } from '../matrix/row.ts';

type Decision = 'approve' | 'reject' | 'cancel';

/** A process that has no agents, and is killed when the store has taken its answer. */
async function decider(cell: Cell, waiting: Child, decision: Decision, index = 0): Promise<Child> {
  const child = cell.start({
    task: { kind: 'decide', runId: await waiting.runId, answer: { decision }, index },
    stops: [
      { at: 'deciding', how: 'hold' },
      { at: 'after resolve', how: 'kill' },
    ],
  });
  await child.reaches('deciding');
  return child;
}

export const resolvedByAnOutsider: Case = {
  name: 'resolved by a process that drives nothing, and is killed',
  play: async (cell) => {
    const waiting = cell.start({ task: { kind: 'work' } });
    await waiting.ended();
    const outsider = await decider(cell, waiting, 'approve');
    outsider.goOn();
    await outsider.killed();
    return (await cell.finished()).runId;
  },
};

/** Three people decide at the same time; each of them is killed before they learn what came of it. */
export const decidedAtOnce: Case = {
  name: 'three processes decide at once, and are killed',
  play: async (cell) => {
    const waiting = cell.start({ task: { kind: 'work' } });
    await waiting.ended();
    const deciders = await Promise.all(
      (['approve', 'reject', 'cancel'] as const).map((each) => decider(cell, waiting, each)),
    );
    for (const each of deciders) each.goOn();
    await Promise.all(deciders.map((each) => each.killed()));
    return (await cell.finished()).runId;
  },
  expected: asDecided,
};

/** So long may the first question stay open: the deciders are ready by then. */
const EXPIRES_MS = 6_000;

/** One person decides in the moment in which the question expires. */
export const decidedAtExpiry: Case = {
  name: 'a decision meets the expiry of its question',
  common: { expiresInMs: EXPIRES_MS },
  play: async (cell) => {
    const waiting = cell.start({ task: { kind: 'work' } });
    await waiting.ended();
    const runId = await waiting.runId;
    const { tree } = await readRecord(cell.url, runId);
    const person = await decider(cell, waiting, 'approve');
    await pause(Math.max(0, (tree.waits[0]?.expiresAt ?? 0) - Date.now()));
    person.goOn();
    await person.killed();
    await cell.finished();
    return runId;
  },
  expected: asDecided,
};

/** A decision arrives between the owner's last look and its release; the owner is killed when it was told so. */
export const decisionBeforeTheRelease: Case = {
  name: 'a decision before the release; killed when the release was refused',
  common: { script: 'batch' },
  play: async (cell) => {
    const waiting = cell.start({ task: { kind: 'work' } });
    await waiting.ended();
    const first = await decider(cell, waiting, 'approve');
    const second = await decider(cell, waiting, 'approve', 1);
    first.goOn();
    await first.killed();
    const owner = cell.start({
      task: { kind: 'work' },
      stops: [
        { at: 'before commit pause', how: 'hold' },
        { at: 'after commit pause: inbox-moved', how: 'kill' },
      ],
    });
    await owner.reaches('before commit pause');
    second.goOn();
    await second.killed();
    owner.goOn();
    await owner.killed();
    return (await cell.finished()).runId;
  },
  // The result of the first call was to be stored with the release that was refused.
  expected: (tool) => ({ doubts: doubtsOf(tool) }),
};

/** Somebody asks for a pause while somebody else approves; later a third one lets the run go on. */
export const decisionBesidePause: Case = {
  name: 'an approval and a pause at once; killed; later resumed',
  play: async (cell) => {
    const waiting = cell.start({ task: { kind: 'work' } });
    await waiting.ended();
    const runId = await waiting.runId;
    const person = await decider(cell, waiting, 'approve');
    const pausing = cell.start({
      task: { kind: 'signal', runId, signal: 'pause', text: 'wait' },
      stops: [
        { at: 'deciding', how: 'hold' },
        { at: 'after append pause', how: 'kill' },
      ],
    });
    await pausing.reaches('deciding');
    person.goOn();
    pausing.goOn();
    await Promise.all([person.killed(), pausing.killed()]);
    await cell.start({ task: { kind: 'work' } }).ended();
    const { tree } = await readRecord(cell.url, runId);
    if (tree.runs[0]?.reason !== 'user-interrupted')
      throw new Error(`The run is not held: ${JSON.stringify(tree.runs[0])}`);
    await cell.start({ task: { kind: 'signal', runId, signal: 'resume', text: 'go on' } }).ended();
    return (await cell.finished()).runId;
  },
};

/** What the answers say must have happened: the first answer to each question counts. */
async function asDecided(_tool: ToolKind, cell: Cell, runId: RunId): Promise<Expected> {
  const { tree } = await readRecord(cell.url, runId);
  const answers = tree.waits.map(({ decision }) => decision);
  if (answers[0] === 'cancel') return { status: 'cancelled', effects: [] };
  const effects = ENTRIES.filter((_, index) => answers[index] === 'approve');
  const expired = tree.waits.filter(({ status }) => status === 'expired').length;
  return { effects, denied: ENTRIES.length - effects.length, expired };
}
