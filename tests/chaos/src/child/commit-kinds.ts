import type { Commit } from '@hexagent/agent-core';

/** What a commit makes true; a point is named by it, and not by the number of the commit. */
export function kindsOf(commit: Commit): readonly string[] {
  const { runs, calls = [], moves = [], opens = [], messages = [], consume = [] } = commit;
  const hasMessage = (test: (message: { role: string; origin: string }) => boolean): boolean =>
    messages.some(({ message }) => 'plain' in message && test(message.plain));
  const status = runs[0]?.status;
  const kinds: Readonly<Record<string, boolean>> = {
    answer: hasMessage(({ role }) => role === 'assistant'),
    result: hasMessage(({ role }) => role === 'tool'),
    're-ask': hasMessage(({ origin }) => origin === 'framework'),
    question: opens.length > 0,
    use: moves.some(({ to }) => to === 'used'),
    start: calls.some(({ stage }) => stage === 'started'),
    repeat: calls.some(({ stage, attempt }) => stage === 'started' && attempt > 1),
    doubt: calls.some(({ stage }) => stage === 'unknown'),
    message: consume.length > 0,
    pause: commit.release !== undefined,
    cancelling: status === 'cancelling',
    end: commit.closeInbox !== undefined,
  };
  const true_ = Object.keys(kinds).filter((kind) => kinds[kind]);
  return true_.length > 0 ? true_ : ['flush'];
}

/** The step that the run is in when the commit is known. */
export function stepOf({ runs }: Commit): number {
  return Number(runs[0]?.counters['steps']);
}
