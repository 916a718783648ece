import { runIdOf } from '@hexagent/agent-core';
import { type ExitCode, exitCodeOf } from '../exit-code.ts';
import { cancelOnInterrupt } from './cancel-run.ts';
import { followRun } from './follow-run.ts';
import { parseCount } from './json-argument.ts';
import type { Task } from './perform.ts';

export type ForkCommandOptions = {
  readonly at: string;
  readonly instruction?: string;
  readonly agent?: string;
};

/** Forks a run and follows the fork. */
export async function forkRun(task: Task<ForkCommandOptions>): Promise<ExitCode> {
  const { open, output, interrupts, args, options } = task;
  const { instruction, agent } = options;
  const atSeq = parseCount('at', options.at, 0);
  const opened = await open({ start: true });
  const handle = await opened.app.runs.fork(
    runIdOf(args[0] ?? ''),
    {
      atSeq,
      ...(instruction === undefined ? {} : { instruction }),
      ...(agent === undefined ? {} : { agent }),
    },
    opened.caller,
  );
  output.record('forked', { runId: handle.runId, from: args[0], atSeq });
  output.note(output.style.faint(`Forked: ${output.safe(handle.runId)}`));
  const onInterrupt = cancelOnInterrupt(opened, { runId: handle.runId, output });
  const { result } = await followRun(handle, { output, interrupts, onInterrupt });
  return exitCodeOf(result.kind);
}
