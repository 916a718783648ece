import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { CliIo } from '../io/cli-io.ts';
import { type Interrupts, listenForInterrupts, Stopped } from '../io/interrupts.ts';
import { printError, printOutputFailed } from '../render/error-view.ts';
import { type Output, openOutput } from '../render/output.ts';
import { UsageError } from '../usage-error.ts';
import type { CommandHost, OpenedApp } from './host.ts';

/** Options that every command takes. */
export type CommonOptions = {
  readonly json?: boolean;
  readonly debug?: boolean;
  readonly config?: string;
  /** False by `--no-start`. */
  readonly start?: boolean;
};

/** What a command has while it works. */
export type Task<Options> = {
  readonly io: CliIo;
  readonly output: Output;
  readonly interrupts: Interrupts;
  /** Aborted when the command has to end. */
  readonly signal: AbortSignal;
  readonly options: Options & CommonOptions;
  /** The arguments in order; an optional one that was not given is undefined. */
  readonly args: readonly (string | undefined)[];
  /** Opens the application. It is closed when the command ends, however it ends. */
  open(options: { readonly start: boolean }): Promise<Omit<OpenedApp, 'close'>>;
};

/**
 * Makes a commander action of a command's work: output, interrupts, errors and exit code are the same
 * for all of them.
 */
export function perform<Options extends object>(
  host: CommandHost,
  work: (task: Task<Options>) => Promise<ExitCode>,
): (...received: unknown[]) => Promise<void> {
  return async (...received) => {
    const command = received.at(-1) as Command;
    const options = command.optsWithGlobals<Options & CommonOptions>();
    host.finish(await performed(host, { options, args: command.processedArgs, work }));
  };
}

async function performed<Options extends object>(
  host: CommandHost,
  {
    options,
    args,
    work,
  }: {
    readonly options: Options & CommonOptions;
    readonly args: readonly (string | undefined)[];
    readonly work: (task: Task<Options>) => Promise<ExitCode>;
  },
): Promise<ExitCode> {
  const { io } = host;
  const interrupts = listenForInterrupts(io);
  const { signal } = interrupts;
  const output = openOutput(io, {
    json: options.json === true,
    onClosed: () => {
      if (!signal.aborted) interrupts.stop(EXIT.outputClosed);
    },
    onFailed: (error) => {
      printOutputFailed(io, error);
      if (!signal.aborted) interrupts.stop(EXIT.error);
    },
  });
  const opened: OpenedApp[] = [];
  const open: Task<Options>['open'] = async ({ start }) => {
    const result = await host.open({
      start: start && options.start !== false,
      config: options.config,
      signal,
    });
    opened.push(result);
    const { close: _, ...rest } = result;
    return rest;
  };
  const fail = (error: unknown): ExitCode => {
    if (signal.aborted && signal.reason instanceof Stopped) return signal.reason.exitCode;
    printError(output, error, { debug: options.debug === true });
    return error instanceof UsageError ? EXIT.usage : EXIT.error;
  };

  let code: ExitCode;
  try {
    code = await work({ io, output, interrupts, signal, options, args, open });
  } catch (error) {
    code = fail(error);
  }
  try {
    for (const { close } of opened) await close();
  } catch (error) {
    code = fail(error);
  }
  output.progress();
  await output.flushed({ signal });
  interrupts.release();
  output.release();
  return signal.aborted && signal.reason instanceof Stopped ? signal.reason.exitCode : code;
}
