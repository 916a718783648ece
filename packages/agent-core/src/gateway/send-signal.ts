import {
  inputInvalid,
  type Problem,
  signalNotAccepted,
  waitNotFound,
} from '../base/error-catalog.ts';
import { type RunId, rootOf, type WaitId, waitIdOf } from '../base/ids.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import { clientKey } from '../runner/dedupe-key.ts';
import { isControl, SIGNAL_KINDS, type SignalKind } from '../vocabulary/signal.ts';
import type { RunState } from '../vocabulary/state.ts';
import type { WaitResolution } from '../vocabulary/wait.ts';
import { headFor, statelessFor } from './access.ts';
import type { Caller } from './caller.ts';
import { cancelRun } from './cancel-run.ts';
import type { GatewayParts } from './drive.ts';
import { keyProblems } from './given.ts';
import { resolveWait } from './resolve-wait.ts';
import { append } from './wake.ts';

export type Sending = {
  readonly runId: RunId;
  readonly signal: {
    readonly kind: SignalKind;
    readonly payload: JsonObject;
    readonly dedupeKey?: string;
  };
  readonly caller: Caller;
};

/** Any signal, through one door: a cancellation and a decision go the way of their own. */
export async function sendSignal(
  parts: GatewayParts,
  { runId, signal, caller }: Sending,
): Promise<void> {
  const stateless = statelessFor(parts, runId, caller);
  const problems = signalProblems(signal);
  if (problems.length > 0) throw inputInvalid('The signal', problems);
  const { kind, payload, dedupeKey } = signal;
  if (kind === 'cancel')
    return cancelRun(parts, { runId, reason: textIn(payload, 'reason'), caller });
  if (stateless !== undefined) throw signalNotAccepted(stateless.facts.definition.name, kind, []);
  const { run, store } = await headFor(parts, runId, caller);
  if (kind === 'approval-decision') {
    const { waitId, ...resolution } = payload;
    checkWait(String(waitId), run.rootRunId);
    return resolveWait(parts, {
      waitId: waitIdOf(String(waitId)) satisfies WaitId,
      resolution: resolution as unknown as WaitResolution,
      caller,
      dedupeKey,
    });
  }
  const accepts = parts.agents.get(run.agent)?.accepts;
  if (accepts !== undefined && !accepts.includes(kind))
    throw signalNotAccepted(run.agent, kind, accepts);
  if (payload['waitId'] !== undefined && kind === 'scheduler-wake-up')
    await checkTimer(store, { waitId: String(payload['waitId']), run, caller });
  await append(
    parts,
    { store, run, signal: caller.signal },
    { kind, payload, dedupeKey: clientKey(dedupeKey ?? parts.setup.ids.next()) },
  );
}

/** A signal to one run says nothing about a wait of another. */
function checkWait(waitId: string, root: RunId): void {
  if (rootOf(waitId) !== root) throw waitNotFound(waitId);
}

async function checkTimer(
  store: DurableStore,
  { waitId, run, caller }: { waitId: string; run: RunState; caller: Caller },
): Promise<void> {
  checkWait(waitId, run.rootRunId);
  const tree = await store.records.load(run.rootRunId, { signal: caller.signal });
  const isThere = tree?.waits.some(({ id, kind }) => id === waitId && kind === 'timer') === true;
  if (!isThere) throw waitNotFound(waitId);
}

/** What is wrong with a signal whoever it is for. */
function signalProblems(given: unknown): readonly Problem[] {
  const signal: JsonObject = isJsonObject(given) ? given : {};
  const { kind, payload, dedupeKey } = signal;
  const problems: Problem[] = [];
  if (!(SIGNAL_KINDS as readonly unknown[]).includes(kind))
    problems.push({
      at: 'kind',
      seen: `is ${JSON.stringify(kind)}.`,
      mend: `Choose one of: ${SIGNAL_KINDS.join(', ')}.`,
    });
  problems.push(...keyProblems(dedupeKey, 'dedupeKey'));
  if (!isJsonObject(payload))
    return [
      ...problems,
      { at: 'payload', seen: `is ${JSON.stringify(payload)}.`, mend: 'Send an object.' },
    ];
  return [...problems, ...payloadProblems(kind, payload)];
}

function payloadProblems(kind: unknown, payload: JsonObject): readonly Problem[] {
  const seen = 'is missing or blank.';
  if (kind === 'approval-decision' && textIn(payload, 'waitId') === undefined)
    return [{ at: 'payload.waitId', seen, mend: 'Name the wait that is decided.' }];
  if (kind === 'external-event' && textIn(payload, 'name') === undefined)
    return [{ at: 'payload.name', seen, mend: 'Send { "name": "…", "value": … }.' }];
  const isSpoken =
    (SIGNAL_KINDS as readonly unknown[]).includes(kind) && !isControl(kind as SignalKind);
  if (
    isSpoken &&
    !['text', 'message', 'instruction'].some((key) => textIn(payload, key) !== undefined)
  )
    return [{ at: 'payload.text', seen, mend: 'Send { "text": "…" }.' }];
  return [];
}

function textIn(payload: JsonObject, key: string): string | undefined {
  const value = payload[key];
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
