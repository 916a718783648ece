import { type JsonObject, runIdOf, SIGNAL_KINDS, type SignalKind } from '@hexagent/agent-core';
import { Argument, Command } from 'commander';
import { EXIT, type ExitCode, exitCodeOf } from '../exit-code.ts';
import { UsageError } from '../usage-error.ts';
import { followRun } from './follow-run.ts';
import type { CommandHost } from './host.ts';
import { parseJsonObject } from './json-argument.ts';
import { perform, type Task } from './perform.ts';

type SignalOptions = {
  readonly text?: string;
  readonly dedupeKey?: string;
};

/** `hexagent signal <run> <kind> [payload]` */
export function signalCommand(host: CommandHost): Command {
  return new Command('signal')
    .description('send a signal to a run, and show how it goes on')
    .argument('<run>')
    .addArgument(new Argument('<kind>', 'what is sent').choices(SIGNAL_KINDS))
    .argument('[payload]', 'a JSON object')
    .option('--text <text>', 'the payload {"text": …} of a message or an instruction')
    .option('--dedupe-key <key>', 'the same key is delivered once')
    .action(perform<SignalOptions>(host, signal));
}

async function signal(task: Task<SignalOptions>): Promise<ExitCode> {
  const { open, output, interrupts, args, options } = task;
  const [run = '', kind, payload] = args;
  const { dedupeKey } = options;
  const sent = {
    kind: kind as SignalKind,
    payload: payloadOf(payload, options),
    ...(dedupeKey === undefined ? {} : { dedupeKey }),
  };
  const { app, caller } = await open({ start: true });
  await app.runs.signal(runIdOf(run), sent, caller);
  output.record('signalled', { runId: run, kind: sent.kind });
  output.note(output.style.good(`Sent: ${sent.kind}.`));

  // Somebody else may own the run: leaving must not cancel it.
  const onInterrupt = (): void => interrupts.stop(EXIT.interrupted);
  const handle = await app.runs.resume(runIdOf(run), caller);
  const { result } = await followRun(handle, { output, interrupts, onInterrupt });
  return exitCodeOf(result.kind);
}

function payloadOf(payload: string | undefined, { text }: SignalOptions): JsonObject {
  if (text === undefined) return payload === undefined ? {} : parseJsonObject('payload', payload);
  if (payload === undefined) return { text };
  throw new UsageError('There is a payload and --text.', 'Give one of the two.');
}
