import type { ActiveRun } from './active-run.ts';
import { pollControl } from './control-lane.ts';
import { actOnRunAnswer, askAboutRun } from './run-question.ts';

/** So often a run is taken up without getting any further before a person is asked (DURABILITY rule 11). */
export const MAX_DELIVERIES = 5;

/** True for an owner that is one too many: it works on nothing. */
export function isPoisoned({ journal }: ActiveRun): boolean {
  return journal !== undefined && journal.lease.deliveries > MAX_DELIVERIES;
}

/** Asks whether the run should be tried again. A cancel that nobody has read yet is obeyed instead. */
export async function askIfPoisoned(run: ActiveRun): Promise<void> {
  if (run.journal === undefined || !isPoisoned(run)) return;
  await pollControl(run);
  run.abort.throwIfAborted();
  const { question } = run;
  // It was answered with "go on", and nothing came of it: that is asked again.
  if (question?.answer?.decision === 'approve') actOnRunAnswer(run, question.wait, question.answer);
  if (run.question !== undefined) {
    run.question.poison = true;
    return;
  }
  const { deliveries } = run.journal.lease;
  askAboutRun(run, {
    subject: 'deliveries',
    prompt: {
      question: `This run was taken up ${deliveries} times and got no further: each time its worker was lost before anything new was known. Try again?`,
      deliveries,
      calls: run.batch
        .filter(({ settled }) => !settled)
        .map(({ call: { callId, toolName, stage } }) => ({ callId, tool: toolName, stage })),
      hint: '"approve" tries again, "abandon" ends the run as failed, "cancel" cancels it. Look first at what the run does next: it may be what ends its workers.',
    },
    poison: true,
  });
}
