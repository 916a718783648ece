import type { WorkerReport } from '@hexagent/agent-core';
import { Command } from 'commander';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { errorRecord } from '../render/error-view.ts';
import type { Output } from '../render/output.ts';
import type { CommandHost } from './host.ts';
import { parseCount } from './json-argument.ts';
import { perform, type Task } from './perform.ts';

type WorkerCommandOptions = {
  readonly concurrency?: string;
  readonly pollMs?: string;
  readonly graceMs?: string;
};

/** `hexagent worker` */
export function workerCommand(host: CommandHost): Command {
  return new Command('worker')
    .description('drive runs that nobody drives, until it is stopped')
    .option('--concurrency <n>', 'how many runs at once (4)')
    .option('--poll-ms <n>', 'the time between two looks for work, in milliseconds (1000)')
    .option('--grace-ms <n>', 'how long it waits for tools that run when it is stopped (20000)')
    .action(perform<WorkerCommandOptions>(host, work));
}

/** Works until it is told to stop, and gives back what it drives: that is no failure. */
async function work(task: Task<WorkerCommandOptions>): Promise<ExitCode> {
  const { output, options, interrupts, signal } = task;
  const { concurrency, pollMs, graceMs } = options;
  const counts = {
    ...(concurrency === undefined ? {} : { concurrency: parseCount('concurrency', concurrency) }),
    ...(pollMs === undefined ? {} : { pollMs: parseCount('poll-ms', pollMs) }),
    ...(graceMs === undefined ? {} : { graceMs: parseCount('grace-ms', graceMs, 0) }),
  };
  const { app, createWorker } = await task.open({ start: true });
  const worker = createWorker(app, { ...counts, report: (report) => print(output, report) });
  let tell: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  // Whoever read the output has left, or it cannot be written: that ends a worker as well.
  signal.addEventListener('abort', tell, { once: true });
  await interrupts.untilToldToStop(tell, async () => {
    worker.start();
    output.note('Working. Ctrl-C or SIGTERM gives the runs back and ends it.');
    if (!signal.aborted) await told;
    output.note('Stopping: runs are given back. Once more leaves at once.');
    await worker.drain();
  });
  output.note('Stopped.');
  return EXIT.completed;
}

/** One line for each run that is claimed, comes to rest, or cannot be driven. */
function print(output: Output, report: WorkerReport): void {
  switch (report.type) {
    case 'claimed':
      output.record('claimed', report);
      output.line(
        `${report.runId}\t${output.safe(report.agent)}\tclaimed (delivery ${report.deliveries})`,
      );
      return;
    case 'rested':
      output.record('rested', report);
      output.line(`${report.runId}\t${output.safe(report.agent)}\t${report.rest}`);
      return;
    case 'failed': {
      const { runId, error } = report;
      output.record('failed', {
        ...(runId === undefined ? {} : { runId }),
        error: errorRecord(error),
      });
      const { code, message } = errorRecord(error);
      output.note(output.safe(`${runId ?? 'The store'}: ${code}: ${message}`));
    }
  }
}
