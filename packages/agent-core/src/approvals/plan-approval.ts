import type { JsonObject } from '../base/json.ts';
import { CONTEXT_EXPOSURE, type ExposurePolicy } from '../guard/exposure.ts';
import { guardValue } from '../guard/guard-value.ts';
import type { ToolDefinition } from '../tools/tool.ts';
import { DECISIONS_OF, type Decision } from '../vocabulary/wait.ts';

/** What has to happen before a call may run. */
export type ApprovalPlan =
  | { readonly action: 'proceed' }
  | { readonly action: 'wait'; readonly prompt: JsonObject; readonly allowed: readonly Decision[] };

export type ApprovalOptions = {
  /** What of marked fields an approver may see. */
  readonly policy?: ExposurePolicy;
  /** In place of "May X run?". */
  readonly message?: string;
};

/**
 * Whether a call needs a human's approval: `required` always, `not-required` never, `derived` by the risk of its effects.
 *
 * The prompt names the tool, its exact arguments (marked fields masked) and the axes of risk. It is a building block: the
 * runner opens a wait of it, and the answer comes back through `parseDecision`.
 *
 * @param input the exact, bound arguments
 */
export function planApproval(
  definition: QuestionedTool & Pick<ToolDefinition, 'requiresApproval'>,
  input: JsonObject,
  options: ApprovalOptions = {},
): ApprovalPlan {
  if (!definition.requiresApproval) return { action: 'proceed' };
  return { action: 'wait', ...approvalQuestion(definition, input, options) };
}

type QuestionedTool = Pick<
  ToolDefinition,
  'name' | 'description' | 'approval' | 'risk' | 'inputMarks'
>;

/** The question whether a call may run, whoever wants it to be asked. */
export function approvalQuestion(
  definition: QuestionedTool,
  input: JsonObject,
  options: ApprovalOptions = {},
): Omit<Extract<ApprovalPlan, { action: 'wait' }>, 'action'> {
  const {
    policy = CONTEXT_EXPOSURE,
    message = `May "${definition.name}" run with these arguments?`,
  } = options;
  return {
    allowed: DECISIONS_OF.approval,
    prompt: {
      message,
      tool: definition.name,
      description: definition.description,
      arguments: guardValue(input, definition.inputMarks, policy),
      risk: definition.risk,
      approval: definition.approval,
    },
  };
}
