import type { AgentError } from '../base/error.ts';
import { runNotDurable, toolFailed } from '../base/error-catalog.ts';
import type { WaitFor } from '../tools/suspend.ts';
import type { ActiveRun } from './active-run.ts';
import { openWait, stage, type WaitRequest } from './call-ledger.ts';
import type { OpenCall } from './open-call.ts';

/** Puts a call to rest until what its tool waits for is there. An error when nobody can wait for that: then the call has failed. */
export function suspendCall(run: ActiveRun, open: OpenCall, wait: WaitFor): AgentError | undefined {
  const refused = run.journal === undefined ? notDurable(run, open) : waitProblem(open, wait);
  if (refused !== undefined) return refused;
  const { carry = null } = wait;
  open.carry = carry;
  stage(run, open, 'suspended');
  open.call = { ...open.call, carry: { plain: carry } };
  run.journal?.call(open.call);
  run.journal?.progressed();
  openWait(run, open, waitRequestOf(run, wait));
  return undefined;
}

/** Nobody keeps a question for a run that is not kept itself. */
function notDurable(run: ActiveRun, { call }: OpenCall): AgentError {
  return runNotDurable(run.facts.definition.name, `the wait of "${call.toolName}"`);
}

function waitProblem({ call }: OpenCall, wait: WaitFor): AgentError | undefined {
  if (wait.kind === 'timer' && Number.isNaN(Date.parse(wait.at)))
    return toolFailed(call.toolName, `it waits until "${wait.at}", which is no ISO 8601 instant`);
  if (wait.kind === 'event' && wait.timeoutMs !== undefined && !(wait.timeoutMs >= 0))
    return toolFailed(
      call.toolName,
      `it waits for ${wait.timeoutMs} ms, which is no length of time`,
    );
  return undefined;
}

function waitRequestOf(run: ActiveRun, wait: WaitFor): WaitRequest {
  switch (wait.kind) {
    case 'event':
      return {
        kind: 'event',
        prompt: { name: wait.name },
        ...(wait.timeoutMs === undefined ? {} : { ttlMs: wait.timeoutMs }),
      };
    case 'timer':
      return {
        kind: 'timer',
        prompt: { at: wait.at },
        ttlMs: Math.max(0, Date.parse(wait.at) - run.setup.clock.now()),
      };
    case 'auth':
      return { kind: 'auth', prompt: { url: wait.url, message: wait.message } };
    case 'input':
      return { kind: 'input', prompt: { message: wait.message, schema: wait.schema } };
  }
}
