import { openLineReader } from '../io/line-reader.ts';
import { UsageError } from '../usage-error.ts';
import type { Task } from './perform.ts';

/**
 * Whether somebody means what cannot be undone: `--yes`, or a `yes` that is typed at the terminal. A program that did
 * not say `--yes` is told to, and nothing happens.
 */
export async function confirmed(
  { io, output, interrupts, signal }: Task<object>,
  { question, yes }: { readonly question: string; readonly yes: boolean },
): Promise<boolean> {
  if (yes) return true;
  const reader = openLineReader(io, { onInterrupt: interrupts.raise });
  try {
    if (!reader.isInteractive)
      throw new UsageError(
        'This cannot be undone, and there is nobody to ask.',
        'Look at what it would do first; then say --yes.',
      );
    const answer = await reader.ask(`${question} [yes/no] `, { signal, fresh: true });
    if (answer?.trim().toLowerCase() === 'yes') return true;
    output.note('Nothing was done.');
    return false;
  } finally {
    reader.close();
  }
}
