import { AgentError, type ErrorRecord } from '@hexagent/agent-core';
import type { CliIo } from '../io/cli-io.ts';
import { UsageError } from '../usage-error.ts';
import type { Output } from './output.ts';

/** An error as every way of printing it shows it. */
export function errorRecord(error: unknown): ErrorRecord {
  if (AgentError.is(error)) {
    return { code: error.code, message: error.message, mend: error.mend };
  }
  if (error instanceof UsageError) {
    return { code: 'INPUT_INVALID', message: error.message, mend: error.mend };
  }
  return {
    code: 'INTERNAL_ERROR',
    message: error instanceof Error ? error.message : String(error),
    mend: 'Run it again with --debug to see where this comes from.',
  };
}

/** Code, what was seen, and the mend; the stack, with those of its causes, only with `--debug`. */
export function printError(
  output: Output,
  error: unknown,
  { debug }: { readonly debug: boolean },
): void {
  const record = errorRecord(error);
  const stack = debug ? stackOf(error) : undefined;
  output.record('error', stack === undefined ? record : { ...record, stack });
  printErrorRecord(output, record);
  if (stack !== undefined) output.note(output.style.faint(output.safe(stack)));
}

/** An error that is already plain data: the end of a failed run. */
export function printErrorRecord(output: Output, { code, message, mend }: ErrorRecord): void {
  const { style } = output;
  output.note(`${style.bad(style.strong(code))}: ${output.safe(message)}`);
  output.note(`${style.attention('Mend')}: ${output.safe(mend)}`);
}

/** What went to stdout is lost: that can only be said on stderr, with `--json` too. */
export function printOutputFailed({ stderr }: Pick<CliIo, 'stderr'>, { message }: Error): void {
  stderr.write(
    `INTERNAL_ERROR: The output cannot be written: ${message}\nMend: Make room where it goes, or send it elsewhere. The run itself is not touched by this.\n`,
  );
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\nCaused by: ${stackOf(error.cause)}`;
}
