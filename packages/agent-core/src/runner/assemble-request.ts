import type { PromptCaching } from '../definition/agent-definition.ts';
import type { ModelRequest, PromptCache } from '../model/agent-model.ts';
import { cacheBreakpoints } from '../model/cache-breakpoints.ts';
import type { ActiveRun } from './active-run.ts';
import { assembleMessages } from './assemble-messages.ts';
import { outputPlan } from './output-rules.ts';

const DEFAULT_INSTRUCTIONS = 'You are a helpful assistant. Use the tools when they help.';

/** Makes the system message: the agent's instructions, then those of its open tool sources. Once per owner. */
export async function instruct(run: ActiveRun): Promise<void> {
  const { instructions } = run.facts.definition;
  const own =
    typeof instructions === 'function' ? await instructions(run.context as never) : instructions;
  run.systemText = [own ?? DEFAULT_INSTRUCTIONS, ...run.sourceInstructions].join('\n\n');
}

/**
 * The next request: system message, history, the messages of this run, and every tool of the catalogue.
 * `objective` and the metadata of agent and run never get in. Messages are handed over as they are kept:
 * nothing is copied but the list.
 */
export function assembleRequest(run: ActiveRun): ModelRequest {
  const { definition, input, principal } = run.facts;
  const plan = outputPlan(run);
  // Assigned, not spread: this runs once a step, and three conditional spreads cost more than the rest of it.
  const request: { -readonly [K in keyof ModelRequest]: ModelRequest[K] } = {
    messages: assembleMessages({
      system: run.systemText as string,
      messages: run.messages,
    }),
    tools: plan.withTools ? run.catalogue.modelTools : [],
    toolChoice: plan.withTools && run.catalogue.modelTools.length > 0 ? 'auto' : 'none',
    tenantId: principal.scope.tenantId,
    requestId: `${run.runId}.${run.counters.stepIds}`,
  };
  if (plan.output !== undefined) request.output = plan.output;
  if (definition.sampling !== undefined) request.sampling = definition.sampling;
  if (input.selection !== undefined) request.selection = input.selection;
  const { promptCache } = definition;
  if (promptCache !== undefined) request.cache = cacheOf(promptCache, request.messages);
  return request;
}

const TTL_SECONDS = { '5m': 300, '1h': 3_600 } as const;

/** What the agent says about caching, in the terms of the model port. */
function cacheOf(caching: PromptCaching, messages: ModelRequest['messages']): PromptCache {
  if (caching === false) return { breakpoints: [] };
  return { breakpoints: cacheBreakpoints(messages), ttlSeconds: TTL_SECONDS[caching] };
}
