import type { RunId } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';
import { type Message, textOf } from '../vocabulary/message.ts';
import { isControl, type RunSignal } from '../vocabulary/signal.ts';
import type { ActiveRun } from './active-run.ts';
import { consumed } from './control-lane.ts';
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
  const taken = [...run.conversation].filter(
    ({ kind }) => options.followUps || kind !== 'follow-up',
  );
  let given = false;
  for (const signal of taken) {
    // One at a time: what a hook that ends the run has not let through is still unread.
    run.conversation.delete(signal);
    consumed(run, signal);
    if (await callHook(run, { signal, step: () => options.stepId })) continue;
    const message = messageIn(signal);
    run.append(message);
    run.journal?.weighs(textOf(message.parts).length);
    given = true;
    if (run.journal?.isFull === true) await run.journal.commit({ signal: run.storage.signal });
  }
  return given;
}

/** Messages of an earlier run of the conversation that ended without reading them. */
export type Inherited = { readonly runId: RunId; readonly signals: readonly RunSignal[] };

/** The first run after one that ended without reading its messages has them before its own input; its evidence says so. */
export function inherit(run: ActiveRun, inherited: Inherited | undefined): void {
  if (inherited === undefined) return;
  for (const { seq, kind, payload } of inherited.signals)
    run.evidence('signal', {
      runId: inherited.runId,
      signalSeq: seq,
      kind,
      payload,
      pollPoint: 'safe-boundary',
    });
}

/**
 * A run that fails or is cancelled reads nothing more: what has arrived and was not read is named by its result, and
 * belongs to the next run of the conversation. The end does not wait for a store that is away.
 */
export async function leaveUnread(run: ActiveRun): Promise<void> {
  const { store } = run.setup;
  if (store === undefined || run.facts.definition.accepts.every(isControl)) return;
  const pending = await store.inbox.pending(run.runId, run.storage).catch(() => []);
  for (const signal of pending)
    if (!isControl(signal.kind) && !run.readSignals.has(signal.seq)) run.conversation.add(signal);
}

/** A signal of the conversation lane, as the model gets it. */
export function messageIn({ payload }: RunSignal): Message {
  return { role: 'user', origin: 'user', parts: [{ type: 'text', text: textIn(payload) }] };
}

function textIn(payload: JsonObject): string {
  for (const key of ['text', 'message', 'instruction']) {
    const value = payload[key];
    if (typeof value === 'string') return value;
  }
  return JSON.stringify(payload);
}
