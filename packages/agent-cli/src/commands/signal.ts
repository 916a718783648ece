import { runIdOf, SIGNAL_KINDS, type SignalKind } from '@hexagent/agent-core';
import { Argument, Command } from 'commander';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { CommandHost } from './host.ts';
import { parseJsonObject } from './json-argument.ts';
import { perform, type Task } from './perform.ts';

type SignalOptions = { readonly dedupeKey?: string };

/** `hexagent signal <run> <kind> [payload]` */
export function signalCommand(host: CommandHost): Command {
  return new Command('signal')
    .description('send a signal to a run')
    .argument('<run>')
    .addArgument(new Argument('<kind>', 'what is sent').choices(SIGNAL_KINDS))
    .argument('[payload]', 'a JSON object', '{}')
    .option('--dedupe-key <key>', 'the same key is delivered once')
    .action(perform<SignalOptions>(host, signal));
}

async function signal({ open, output, args, options }: Task<SignalOptions>): Promise<ExitCode> {
  const [run = '', kind, payload = '{}'] = args;
  const sent = {
    kind: kind as SignalKind,
    payload: parseJsonObject('payload', payload),
    ...(options.dedupeKey === undefined ? {} : { dedupeKey: options.dedupeKey }),
  };
  const { app, caller } = await open({ start: false });
  await app.runs.signal(runIdOf(run), sent, caller);
  output.record('signalled', { runId: run, kind: sent.kind });
  output.note(output.style.good(`Sent: ${sent.kind}.`));
  return EXIT.completed;
}
