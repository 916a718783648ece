import { cursorInvalid, eventsPruned, runNotDurable } from '../base/error-catalog.ts';
import { type RunId, rootOf } from '../base/ids.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import { fenceOf } from '../events/envelope.ts';
import type { RunState } from '../vocabulary/state.ts';
import { checkCaller, headFor, statelessFor } from './access.ts';
import type { Caller } from './caller.ts';
import { cancelRun } from './cancel-run.ts';
import { conversationOf } from './conversation.ts';
import type { GatewayParts } from './drive.ts';
import { eraseEvidence, readEvidence, verifyRun } from './evidence.ts';
import { forkRun } from './fork-run.ts';
import { listGrants, revokeGrant } from './grants.ts';
import { pageFor } from './page-query.ts';
import { resolveWait } from './resolve-wait.ts';
import { resumeRun } from './resume-run.ts';
import type { AgentDescription, RunGateway } from './run-gateway.ts';
import { sendSignal } from './send-signal.ts';
import { shownHere, shownState } from './shown-state.ts';
import { callsOf, snapshotOf } from './snapshot.ts';
import { startRun } from './start-run.ts';
import { checkCursor, type Watching, watchOnce } from './watch-run.ts';

/** The doors of an application: every one of them checks who knocks. */
export function createGateway(parts: GatewayParts): RunGateway {
  return {
    agents: (caller) => {
      checkCaller(caller);
      return described(parts);
    },
    start: (agent, input, caller) => startRun(parts, agent, { input, caller }),
    resume: (runId, caller) => resumeRun(parts, runId, caller),
    watch: (runId, { after }, caller) =>
      watchOnce(parts, () => watching(parts, { runId, after, caller })),
    signal: (runId, signal, caller) => sendSignal(parts, { runId, signal, caller }),
    resolve: (waitId, resolution, caller) => resolveWait(parts, { waitId, resolution, caller }),
    cancel: (runId, reason, caller) => cancelRun(parts, { runId, reason, caller }),
    get: async (runId, caller) => {
      const here = statelessFor(parts, runId, caller);
      if (here !== undefined) return shownHere(here);
      const { run, store, fence } = await headFor(parts, runId, caller);
      return shownState(parts, run, { store, fence, signal: caller.signal });
    },
    calls: (runId, caller) => callsOf(parts, runId, caller),
    fork: (runId, options, caller) => forkRun(parts, { runId, options, caller }),
    snapshot: (runId, caller) => snapshotOf(parts, runId, caller),
    conversation: (conversationId, query, caller) =>
      conversationOf(parts, conversationId, { query, caller }),
    list: async ({ limit, ...query }, caller) => {
      checkCaller(caller);
      const store = storeOf(parts);
      const page = await store.records.runs({ ...query, ...pageFor(caller, limit) });
      const items: RunState[] = [];
      for (const run of page.items)
        items.push(await shownState(parts, run, { store, signal: caller.signal }));
      return { ...page, items };
    },
    waits: async ({ limit, ...query }, caller) => {
      checkCaller(caller);
      return storeOf(parts).records.waits({ ...query, ...pageFor(caller, limit) });
    },
    grants: (query, caller) => listGrants(parts, query, caller),
    revokeGrant: (id, caller) => revokeGrant(parts, id, caller),
    evidence: (runId, query, caller) => readEvidence(parts, { ...query, runId, caller }),
    verify: (runId, caller) => verifyRun(parts, runId, caller),
    eraseEvidence: (runId, rows, caller) => eraseEvidence(parts, { runId, rows, caller }),
  };
}

function described({ agents }: GatewayParts): readonly AgentDescription[] {
  return [...agents.values()].map(
    ({ name, objective, description, durable, accepts, catalogue }) => ({
      name,
      ...(objective === undefined ? {} : { objective }),
      ...(description === undefined ? {} : { description }),
      durable,
      accepts,
      tools: catalogue.modelTools.map((tool) => ({
        name: tool.name,
        description: tool.description,
      })),
    }),
  );
}

function storeOf({ setup }: GatewayParts): DurableStore {
  if (setup.store === undefined) throw runNotDurable('this application', 'records');
  return setup.store;
}

/** Lets a reader in: what it may watch, and from where. */
async function watching(
  parts: GatewayParts,
  {
    runId,
    after = 0,
    caller,
  }: { readonly runId: RunId; readonly after: number | undefined; readonly caller: Caller },
): Promise<Watching> {
  if (statelessFor(parts, runId, caller) === undefined) {
    const { fence, lastSeq, prunedThrough } = await headFor(parts, runId, caller);
    checkCursor(after);
    // A number that no owner can have given is not a place in this log.
    if (fenceOf(after) > fence) throw cursorInvalid(after);
    if (after < prunedThrough) throw eventsPruned(after, { prunedThrough, lastSeq });
  }
  return { runId: rootOf(runId), after, signal: caller.signal };
}
