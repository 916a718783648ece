import type { AgentError } from '../base/error.ts';
import { overflowOf } from '../wire/context-overflow.ts';
import type { ActiveRun } from './active-run.ts';

/**
 * The one place where a request that did not fit its model's window is answered: here what shortens a conversation will
 * shorten `run.messages` and let the step be asked again. Nothing does yet, so its numbers go on record and the run ends with
 * the error, which is never tried again as it is.
 */
export function answerOverflow(run: ActiveRun, error: AgentError): never {
  const { kind, ...numbers } = overflowOf(error) ?? { kind: 'context-overflow' };
  run.evidence('context', { outcome: kind, ...numbers });
  throw error;
}
