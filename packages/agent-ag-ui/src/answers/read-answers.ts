import type { ResumeEntry } from '@ag-ui/core';
import {
  inputInvalid,
  type Problem,
  type RunSnapshot,
  type Wait,
  type WaitResolution,
  waitNotFound,
} from '@hexagent/agent-core';
import { isFrontendCall } from '../projection/interrupts.ts';
import { isOpen } from '../threads/waits.ts';
import { readEntry } from './read-entry.ts';

/** One entry of `resume` with what it is about and what it says. */
export type Answer = {
  readonly entry: ResumeEntry;
  readonly wait: Wait;
  readonly resolution: WaitResolution | undefined;
};

/**
 * Every entry held against its wait, and all of them against what is open.
 *
 * @throws AgentError `WAIT_NOT_FOUND`, or `INPUT_INVALID` with every problem at once.
 */
export function readAnswers(
  { run, waits: open }: RunSnapshot,
  listed: readonly Wait[],
  resume: readonly ResumeEntry[],
): readonly Answer[] {
  // The snapshot is of one moment; a list of waits may lag behind it.
  const byId = new Map([...listed, ...open].map((wait) => [String(wait.id), wait]));
  const problems: Problem[] = [];
  const answers: Answer[] = [];
  for (const [index, entry] of resume.entries()) {
    const wait = byId.get(entry.interruptId);
    if (wait === undefined) throw waitNotFound(entry.interruptId);
    const read = readEntry(entry, wait);
    if (read.ok) answers.push({ entry, wait, resolution: read.resolution });
    else
      problems.push(
        ...read.problems.map((problem) => ({ ...problem, at: `resume[${index}].${problem.at}` })),
      );
  }
  const isNew = answers.some(({ wait }) => isOpen(wait));
  if (isNew && run.status === 'interrupted') problems.push(...uncovered(open, resume));
  if (problems.length > 0) throw inputInvalid('The resume of this thread', problems);
  return answers;
}

function uncovered(open: readonly Wait[], resume: readonly ResumeEntry[]): readonly Problem[] {
  const ids = new Set(resume.map(({ interruptId }) => interruptId));
  return open
    .filter((wait) => !isFrontendCall(wait) && !ids.has(wait.id))
    .map(({ id }) => ({
      at: 'resume',
      seen: `does not answer "${id}", which is open.`,
      mend: 'Send one entry for each open interrupt.',
    }));
}
