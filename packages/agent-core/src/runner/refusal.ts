import type { AgentError } from '../base/error.ts';
import type { Part } from '../vocabulary/message.ts';
import type { Refusal } from './open-call.ts';

/** A refusal as the model reads it: what was wrong, and the mend. */
export function refusal(outcome: Refusal['outcome'], error: AgentError): Refusal {
  const content: readonly Part[] = [{ type: 'text', text: `${error.message}\n${error.mend}` }];
  return { outcome, content };
}
