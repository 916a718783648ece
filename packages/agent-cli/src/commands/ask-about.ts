import { linked, type Wait, type WaitResolution } from '@hexagent/agent-core';
import { questionOf } from '../render/wait-question.ts';
import { printQuestion } from '../render/wait-view.ts';
import type { ChatSession } from './chat-state.ts';
import { answerHint, readAnswer } from './read-answer.ts';

/** Waits that nobody at a prompt can answer: something else has to happen. */
const NOT_ASKED: readonly Wait['kind'][] = ['timer', 'event'];

/**
 * Asks until there is an answer. Undefined: leave it for later, or the input has ended. What was typed
 * before the question was shown is not an answer to it.
 */
export async function askAbout(
  session: ChatSession,
  wait: Wait,
): Promise<WaitResolution | undefined | 'interrupted'> {
  const { io, output, interrupts } = session;
  output.record('question', wait);
  await printQuestion(output, wait, { cwd: io.cwd, print: output.note });
  if (NOT_ASKED.includes(wait.kind)) return undefined;

  const asking = linked(interrupts.signal);
  const interrupted = new Error('interrupted');
  try {
    return await interrupts.during(
      () => asking.abort(interrupted),
      () => askUntilAnswered({ session, wait, signal: asking.signal }),
    );
  } catch (error) {
    if (error !== interrupted) throw error;
    output.note('');
    return 'interrupted';
  } finally {
    asking.release();
  }
}

async function askUntilAnswered({
  session: { output, lines },
  wait,
  signal,
}: {
  readonly session: ChatSession;
  readonly wait: Wait;
  readonly signal: AbortSignal;
}): Promise<WaitResolution | undefined> {
  output.note(output.style.faint(`  ${answerHint(wait)}`));
  for (let initial = ''; ; ) {
    const line = await lines.ask('answer> ', { signal, fresh: initial === '', initial });
    if (line === undefined) return undefined;
    const answer = readAnswer(wait, line);
    initial = '';
    if (answer.kind === 'resolution') return answer.resolution;
    if (answer.kind === 'leave') return undefined;
    if (answer.kind === 'edit') initial = `edit ${JSON.stringify(questionOf(wait).input ?? {})}`;
    else output.note(output.style.attention(output.safe(answer.problem)));
  }
}
