import { parseDecision } from '../approvals/parse-decision.ts';
import {
  cursorInvalid,
  inputInvalid,
  runCancelled,
  runEnded,
  runNotDurable,
  runNotFound,
  signalNotAccepted,
  waitAlreadyResolved,
  waitDecisionNotAllowed,
  waitDigestMismatch,
  waitExpired,
  waitNotFound,
} from '../base/error-catalog.ts';
import { type RunId, rootOf, type WaitId } from '../base/ids.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import { fenceOf } from '../events/envelope.ts';
import { keep } from '../runner/keeping.ts';
import { isControl, SIGNAL_KINDS, type SignalKind } from '../vocabulary/signal.ts';
import { isTerminal } from '../vocabulary/state.ts';
import type { Wait, WaitResolution } from '../vocabulary/wait.ts';
import { checkCaller, headFor, owns } from './access.ts';
import type { Caller } from './caller.ts';
import { claimAndDrive, definitionOf, type GatewayParts } from './drive.ts';
import { followedHandle, ownedHandle } from './handles.ts';
import type { RunGateway } from './run-gateway.ts';
import type { RunHandle } from './run-handle.ts';
import { clientKey } from '../runner/dedupe-key.ts';
import { startRun } from './start-run.ts';
import { watchRun } from './watch-run.ts';

const DEFAULT_PAGE = 50;
const MAX_PAGE = 500;

/** The doors of an application: every one of them checks who knocks. */
export function createGateway(parts: GatewayParts): RunGateway {
  const { setup, owned, agents } = parts;
  return {
    agents: (caller) => {
      checkCaller(caller);
      return [...agents.values()].map(
        ({ name, objective, description, durable, accepts, catalogue }) => ({
          name,
          ...(objective === undefined ? {} : { objective }),
          ...(description === undefined ? {} : { description }),
          durable,
          accepts,
          tools: catalogue.tools.map((tool) => ({
            name: tool.name,
            description: tool.definition.description,
          })),
        }),
      );
    },
    start: async (agent, input, caller) =>
      startRun(parts, definitionOf(parts, agent), { input, caller }),
    resume: (runId, caller) => resumeRun(parts, runId, caller),
    watch: (runId, { after = 0 }, caller) => watched(parts, { runId, after, caller }),
    signal: (runId, signal, caller) => sendSignal(parts, { runId, signal, caller }),
    resolve: (waitId, resolution, caller) => resolveWait(parts, { waitId, resolution, caller }),
    cancel: (runId, reason, caller) => cancelRun(parts, { runId, reason, caller }),
    get: async (runId, caller) => {
      const local = owned.get(runId);
      if (local !== undefined && local.journal === undefined) {
        checkCaller(caller);
        if (!owns(local.facts.principal.scope, caller.principal.scope)) throw runNotFound(runId);
        return local.row();
      }
      return (await headFor(setup, runId, caller)).run;
    },
    list: async ({ limit, ...query }, caller) => {
      checkCaller(caller);
      return storeOf(parts).records.runs({ ...query, ...pageFor(caller, limit) });
    },
    waits: async ({ limit, ...query }, caller) => {
      checkCaller(caller);
      return storeOf(parts).records.waits({ ...query, ...pageFor(caller, limit) });
    },
    evidence: async (runId, { after = 0, limit = MAX_PAGE }, caller) => {
      const { run } = await headFor(setup, runId, caller);
      return storeOf(parts).records.evidence(run.rootRunId, {
        after,
        limit: clamp(limit),
        signal: caller.signal,
      });
    },
  };
}

function storeOf({ setup }: GatewayParts): DurableStore {
  if (setup.store === undefined) throw runNotDurable('this application', 'records');
  return setup.store;
}

function pageFor(
  { principal, signal }: Caller,
  limit = DEFAULT_PAGE,
): {
  readonly scope: Caller['principal']['scope'];
  readonly limit: number;
  readonly signal: AbortSignal;
} {
  return { scope: principal.scope, limit: clamp(limit), signal };
}

function clamp(limit: number): number {
  if (!Number.isInteger(limit) || limit < 1) {
    throw inputInvalid('The query', [
      {
        at: 'limit',
        seen: `is ${String(limit)}.`,
        mend: `Use a whole number from 1 to ${MAX_PAGE}.`,
      },
    ]);
  }
  return Math.min(limit, MAX_PAGE);
}

async function resumeRun(parts: GatewayParts, runId: RunId, caller: Caller): Promise<RunHandle> {
  const { setup, owned } = parts;
  const { run } = await headFor(setup, runId, caller);
  const root = run.rootRunId;
  const tree = await storeOf(parts).records.load(root, { signal: caller.signal });
  const after = tree?.lastSeq ?? 0;
  if (owned.get(root) === undefined && !isTerminal(run.status)) {
    const driven = await claimAndDrive(parts, root, caller.signal);
    if (driven !== undefined) return ownedHandle(parts, driven, after);
  }
  return followedHandle(parts, { runId: root, after });
}

async function* watched(
  parts: GatewayParts,
  {
    runId,
    after,
    caller,
  }: { readonly runId: RunId; readonly after: number; readonly caller: Caller },
): ReturnType<typeof watchRun> {
  const local = parts.owned.get(runId);
  if (local !== undefined && local.journal === undefined) {
    checkCaller(caller);
    if (!owns(local.facts.principal.scope, caller.principal.scope)) throw runNotFound(runId);
  } else {
    const { fence } = await headFor(parts.setup, runId, caller);
    // A number that no owner can have given is not a place in this log.
    if (fenceOf(after) > fence) throw cursorInvalid(after);
  }
  yield* watchRun(parts, rootOf(runId), { after, signal: caller.signal });
}

type Sending = {
  readonly runId: RunId;
  readonly signal: {
    readonly kind: SignalKind;
    readonly payload: JsonObject;
    readonly dedupeKey?: string;
  };
  readonly caller: Caller;
};

async function sendSignal(parts: GatewayParts, { runId, signal, caller }: Sending): Promise<void> {
  const { kind, payload, dedupeKey } = signal;
  checkCaller(caller);
  if (!SIGNAL_KINDS.includes(kind)) {
    throw inputInvalid('The signal', [
      {
        at: 'kind',
        seen: `is ${JSON.stringify(kind)}.`,
        mend: `Choose one of: ${SIGNAL_KINDS.join(', ')}.`,
      },
    ]);
  }
  if (kind === 'cancel')
    return cancelRun(parts, { runId, reason: textIn(payload, 'reason'), caller });
  if (kind === 'approval-decision') return decide(parts, { payload, caller });
  const { run } = await headFor(parts.setup, runId, caller);
  const { accepts } = definitionOf(parts, run.agent);
  if (!accepts.includes(kind)) throw signalNotAccepted(run.agent, kind, accepts);
  if (
    !isControl(kind) &&
    !['text', 'message', 'instruction'].some((key) => textIn(payload, key) !== undefined)
  ) {
    throw inputInvalid('The signal', [
      { at: 'payload.text', seen: 'is missing or blank.', mend: 'Send { "text": "…" }.' },
    ]);
  }
  await append(parts, {
    root: run.rootRunId,
    kind,
    payload,
    dedupeKey: clientKey(dedupeKey ?? parts.setup.ids.next()),
    caller,
  });
}

/** A decision sent as a signal goes through the same door as any other. */
async function decide(
  parts: GatewayParts,
  { payload, caller }: { readonly payload: JsonObject; readonly caller: Caller },
): Promise<void> {
  const { waitId, ...resolution } = payload;
  if (typeof waitId !== 'string') {
    throw inputInvalid('The signal', [
      {
        at: 'payload.waitId',
        seen: `is ${JSON.stringify(waitId)}.`,
        mend: 'Name the wait that is decided.',
      },
    ]);
  }
  await resolveWait(parts, {
    waitId: waitId as WaitId,
    resolution: resolution as unknown as WaitResolution,
    caller,
  });
}

async function cancelRun(
  parts: GatewayParts,
  {
    runId,
    reason,
    caller,
  }: { readonly runId: RunId; readonly reason: string | undefined; readonly caller: Caller },
): Promise<void> {
  const local = parts.owned.get(runId);
  const requestedBy = caller.principal?.subject;
  if (local !== undefined && local.journal === undefined) {
    checkCaller(caller);
    if (!owns(local.facts.principal.scope, caller.principal.scope)) throw runNotFound(runId);
    local.cancelRequest ??= { ...(reason === undefined ? {} : { reason }), requestedBy };
    local.abort.abort(runCancelled(runId));
    return;
  }
  const { run } = await headFor(parts.setup, runId, caller);
  const payload = { ...(reason === undefined ? {} : { reason }), requestedBy };
  await append(parts, {
    root: run.rootRunId,
    kind: 'cancel',
    payload,
    dedupeKey: 'gateway:cancel',
    caller,
  });
}

/** Append, then claim: whoever owns the run reads it; if nobody does, this process takes it up. */
async function append(
  parts: GatewayParts,
  {
    root,
    kind,
    payload,
    dedupeKey,
    caller,
  }: {
    readonly root: RunId;
    readonly kind: SignalKind;
    readonly payload: JsonObject;
    readonly dedupeKey: string;
    readonly caller: Caller;
  },
): Promise<void> {
  const answer = await storeOf(parts).inbox.append(
    root,
    { kind, payload, dedupeKey },
    { signal: caller.signal },
  );
  if (answer === 'terminal') throw runEnded(root);
  await wake(parts, root, caller);
}

async function wake(parts: GatewayParts, root: RunId, { signal }: Caller): Promise<void> {
  if (parts.owned.raise(root)) return;
  await claimAndDrive(parts, root, signal);
}

async function resolveWait(
  parts: GatewayParts,
  {
    waitId,
    resolution,
    caller,
  }: { readonly waitId: WaitId; readonly resolution: WaitResolution; readonly caller: Caller },
): Promise<void> {
  const store = storeOf(parts);
  const root = rootOf(waitId);
  const head = await headFor(parts.setup, root, caller).catch(() => undefined);
  const wait = head === undefined ? undefined : await findWait(store, { waitId, root, caller });
  if (head === undefined || wait === undefined) throw waitNotFound(waitId);
  const read = parseDecision(resolution, wait);
  if (!read.ok) {
    const decision = isJsonObject(resolution) ? resolution.decision : undefined;
    if (typeof decision === 'string' && !wait.allowed.includes(decision))
      throw waitDecisionNotAllowed(waitId, decision, wait.allowed);
    throw inputInvalid(`The answer to ${waitId}`, read.problems);
  }
  const answer = read.resolution;
  if (answer.decision === 'modify')
    checkEdit(parts, { agent: head.run.agent, wait, input: answer.input });
  // A deferred question stays open: it counts as no answer.
  if (answer.decision === 'defer') return;
  const result = await store.inbox.resolve(
    waitId,
    {
      digest: answer.digest ?? wait.digest,
      decision: answer.decision,
      resolution: await keep(answer, {
        sealer: parts.setup.sealer,
        boundTo: `${waitId}/resolution`,
      }),
      by: caller.principal.subject,
    },
    { signal: caller.signal },
  );
  switch (result.kind) {
    case 'resolved':
      return wake(parts, root, caller);
    case 'already':
      await wake(parts, root, caller);
      throw waitAlreadyResolved(waitId, result.wait);
    case 'expired':
      await wake(parts, root, caller);
      throw waitExpired(waitId);
    case 'digest-mismatch':
      throw waitDigestMismatch(waitId);
    case 'not-allowed':
      throw waitDecisionNotAllowed(waitId, answer.decision, wait.allowed);
    case 'unknown':
      throw waitNotFound(waitId);
  }
}

async function findWait(
  store: DurableStore,
  {
    waitId,
    root,
    caller,
  }: { readonly waitId: WaitId; readonly root: RunId; readonly caller: Caller },
): Promise<Wait | undefined> {
  let after: string | undefined;
  do {
    const page = await store.records.waits({
      scope: caller.principal.scope,
      runId: root,
      limit: MAX_PAGE,
      signal: caller.signal,
      ...(after === undefined ? {} : { after }),
    });
    const found = page.items.find(({ id }) => id === waitId);
    if (found !== undefined) return found;
    after = page.next;
  } while (after !== undefined);
  return undefined;
}

/** Edited arguments are checked before they are taken, where the tool is the agent's own: nothing is lost by a typing error. */
function checkEdit(
  parts: GatewayParts,
  {
    agent,
    wait,
    input,
  }: { readonly agent: string; readonly wait: Wait; readonly input: JsonObject },
): void {
  const name = wait.prompt['tool'];
  const tool =
    typeof name === 'string' ? definitionOf(parts, agent).catalogue.get(name) : undefined;
  const bound = tool?.definition.bindInput(input);
  if (bound === undefined || bound.ok) return;
  throw inputInvalid(
    `The edited arguments for "${tool?.name}"`,
    bound.problems.map((problem) => ({
      at: 'input',
      seen: problem,
      mend: 'Correct the arguments.',
    })),
  );
}

function textIn(payload: JsonObject, key: string): string | undefined {
  const value = payload[key];
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
