import type { RunId } from '@hexagent/agent-core';
import type { Cell } from '../matrix/cell.ts';
import type { Case } from '../matrix/row.ts';

const TEXT = 'thank you';
/** What the model says when it has read the message. */
const ADDS = ` You said: ${TEXT}`;

/** A message arrives between the owner's last look into its inbox and its release; then it is killed. */
export const messageBeforeTheRelease: Case = {
  name: 'a message before the release; killed after it',
  play: async (cell) => {
    const owner = cell.start({
      stops: [
        { at: 'before commit pause', step: 2, how: 'hold' },
        { at: 'after commit pause', step: 2, how: 'kill' },
      ],
    });
    await owner.reaches('before commit pause');
    await expectAnswer(cell, await owner.runId, 'ok');
    owner.goOn();
    await owner.killed();
    return (await cell.finished()).runId;
  },
  expected: () => ({ adds: ADDS }),
};

/** A message arrives between the last answer and the end; another one when the run is over. */
export const messageBeforeTheEnd: readonly Case[] = [
  {
    name: 'a message before the end; killed when the end was refused',
    play: async (cell) => {
      const owner = cell.start({
        stops: [
          { at: 'before commit end', how: 'hold' },
          { at: 'after commit end: inbox-moved', how: 'kill' },
        ],
      });
      await owner.reaches('before commit end');
      await expectAnswer(cell, await owner.runId, 'ok');
      owner.goOn();
      await owner.killed();
      return (await cell.finished()).runId;
    },
    expected: () => ({ adds: ADDS }),
  },
  {
    name: 'a message after the end, which nobody has seen',
    play: async (cell) => {
      const owner = cell.start({ stops: [{ at: 'after commit end', how: 'kill' }] });
      const runId = await owner.runId;
      await owner.killed();
      await expectAnswer(cell, runId, 'RUN_ENDED');
      await cell.finished();
      return runId;
    },
  },
];

/** Writes to a run from a process that has no agents. */
async function expectAnswer(cell: Cell, runId: RunId, expected: string): Promise<void> {
  const task = { kind: 'signal', runId, signal: 'user-message', text: TEXT } as const;
  const said = await cell.start({ task }).ended();
  const answers = said.flatMap((line) => ('answered' in line ? [line.answered] : [])).join();
  if (answers !== expected) throw new Error(`The message was answered with ${answers}.`);
}
