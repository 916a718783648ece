import { isJsonObject } from '../base/json.ts';
import { POLICY_DECISIONS, type PolicyAnswer } from './approval-rules.ts';

/** What came of asking a policy. `failed`: it threw, or answered nonsense, so a person is asked. */
export type PolicyVerdict = PolicyAnswer & { readonly failed: boolean };

/**
 * Asks a policy and fails closed: whatever is no answer comes to `ask`. A policy that answers at once costs no turn of the event loop.
 *
 * @param consult calls the policy; what it throws is the policy's
 */
export function consultPolicy(consult: () => unknown): PolicyVerdict | Promise<PolicyVerdict> {
  try {
    const answer = consult();
    return answer instanceof Promise ? answer.then(verdictOf, failedWith) : verdictOf(answer);
  } catch (error) {
    return failedWith(error);
  }
}

function verdictOf(answer: unknown): PolicyVerdict {
  if (!isJsonObject(answer)) return failed('it did not answer { decision, reason }');
  const decision = POLICY_DECISIONS.find((one) => one === answer['decision']);
  const { reason } = answer;
  if (decision === undefined)
    return failed(`it decided ${JSON.stringify(answer['decision']) ?? 'nothing'}`);
  if (typeof reason !== 'string' || reason.trim() === '')
    return failed(`it decided "${decision}" without a reason`);
  return { decision, reason, failed: false };
}

function failedWith(error: unknown): PolicyVerdict {
  return failed(error instanceof Error ? error.message : String(error));
}

function failed(why: string): PolicyVerdict {
  return { decision: 'ask', reason: `The policy failed: ${why}.`, failed: true };
}
