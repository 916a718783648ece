import { callIdOf, randomIds, runIdOf } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';
import type { ToolContext } from '../vocabulary/run-context.ts';
import type { Principal } from '../vocabulary/scope.ts';

/** What may be given for a tool that runs outside a run; the rest is filled in. */
export type ContextOverrides = Partial<Omit<ToolContext, 'deps'>>;

const LOCAL: Principal = Object.freeze({
  scope: Object.freeze({ tenantId: 'local' }),
  subject: 'local',
  roles: Object.freeze([]),
  permissions: Object.freeze([]),
});

/**
 * A context for a tool that is called outside a run: new ids, the local principal, an empty state that forgets patches, and
 * nobody who listens to progress and artifacts.
 */
export function detachedContext(
  agentName: string,
  options: { readonly deps: unknown; readonly overrides?: ContextOverrides },
): ToolContext {
  const { deps, overrides = {} } = options;
  const runId = runIdOf(`r${randomIds.next()}`);
  const callId = callIdOf(`${runId}.1.0`);
  const principal = overrides.principal ?? LOCAL;
  const empty: JsonObject = {};
  return {
    runId,
    rootRunId: runId,
    conversationId: runId,
    agentName,
    principal,
    scope: principal.scope,
    step: 1,
    input: '',
    metadata: {},
    dependencies: {},
    state: { get: () => empty, patch: () => undefined },
    signal: new AbortController().signal,
    call: { callId, idempotencyKey: callId, fence: 1, attempt: 1 },
    progress: () => undefined,
    artifact: () => undefined,
    ...overrides,
    deps,
  };
}
