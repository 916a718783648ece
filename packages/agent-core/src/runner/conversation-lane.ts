import type { ActiveRun } from './active-run.ts';
import { consumed, signalText } from './control-lane.ts';
import { callHook } from './signal-hooks.ts';

/**
 * Gives unread messages to the model, in the order of their arrival: called when no call is open, as the
 * first thing of a step. A hook may show something first; the message still reaches the model unless
 * the hook returns `'handled'`. Follow-ups wait until the run would otherwise end. False when the model has
 * got nothing.
 */
export async function readConversation(
  run: ActiveRun,
  options: { readonly stepId: string; readonly followUps: boolean },
): Promise<boolean> {
  const taken = run.conversation.filter(({ kind }) => options.followUps || kind !== 'follow-up');
  let given = false;
  for (const signal of taken) {
    // One at a time: what a hook that ends the run has not let through is still unread.
    run.conversation = run.conversation.filter((other) => other !== signal);
    consumed(run, signal);
    if (await callHook(run, { signal, step: () => options.stepId })) continue;
    const text = signalText(signal.payload);
    run.append({ role: 'user', origin: 'user', parts: [{ type: 'text', text }] });
    run.journal?.weighs(text.length);
    given = true;
    if (run.journal?.isFull === true) await run.journal.commit({ signal: run.storage.signal });
  }
  return given;
}
