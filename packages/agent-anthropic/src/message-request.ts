import type {
  MessageCountTokensParams,
  MessageCreateParamsStreaming,
  OutputConfig,
  ThinkingConfigParam,
} from '@anthropic-ai/sdk/resources/messages/messages';
import type { JsonObject, ModelRequest } from '@hexagent/agent-core';
import {
  cacheBreakpoints,
  modelRequestInvalid,
  type WireNames,
} from '@hexagent/agent-core/adapter';
import { type MarkedPrompt, marked } from './cache-control.ts';
import { grammarSchema } from './output-schema.ts';
import { requestTools } from './request-tools.ts';
import type { Settings } from './settings.ts';
import { wirePrompt } from './wire-messages.ts';

export type MessageRequest = {
  readonly body: MessageCreateParamsStreaming;
  readonly toName: WireNames['toName'];
};

/** Writes request bodies. What the provider would refuse is refused here, before anything is sent. */
export interface MessageRequests {
  message(request: ModelRequest, model: string): MessageRequest;
  /** The body that counts the same request: it has no room for what shapes the answer. */
  count(request: ModelRequest, model: string): MessageCountTokensParams;
}

export function messageRequests(settings: Settings): MessageRequests {
  const toolsOf = requestTools(settings);

  /** What both bodies have. */
  const shared = (request: ModelRequest, model: string) => {
    const { tools, choice, toName } = toolsOf(request);
    const prompt = { ...wirePrompt(request.messages, settings.id), tools };
    const parts = marked(prompt, cacheOf(request, settings));
    const output = outputConfig(request, { settings, hasTools: tools.length > 0 });
    const body = {
      model,
      messages: parts.messages,
      ...filled(parts),
      ...(choice === undefined ? {} : { tool_choice: choice }),
      ...(settings.thinking === undefined ? {} : { thinking: thinkingOf(settings.thinking) }),
      ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
    };
    return { body, toName };
  };

  return {
    message(request, model) {
      const { body, toName } = shared(request, model);
      const { maxTokens = settings.maxTokens } = request.sampling ?? {};
      refuseBudget(settings, maxTokens);
      return {
        body: {
          ...settings.extra,
          ...body,
          max_tokens: maxTokens,
          stream: true,
          ...samplingOf(request),
        },
        toName,
      };
    },
    count: (request, model) => shared(request, model).body,
  };
}

/** The newest version of the API names neither; older versions, and other servers, take them. Whoever asks is told. */
function samplingOf({ sampling = {} }: ModelRequest): JsonObject {
  const { temperature, topP } = sampling;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
  };
}

/** Empty lists are refused by some servers. */
function filled({ system, tools }: MarkedPrompt): Partial<Pick<MarkedPrompt, 'system' | 'tools'>> {
  return {
    ...(system.length === 0 ? {} : { system }),
    ...(tools.length === 0 ? {} : { tools }),
  };
}

/** What the agent says wins; where it says nothing, the adapter's option does. */
function cacheOf(
  { cache, messages }: ModelRequest,
  { promptCache }: Settings,
): Parameters<typeof marked>[1] {
  if (cache === undefined) {
    return promptCache === false
      ? { breakpoints: [], ttl: '5m' }
      : { breakpoints: cacheBreakpoints(messages), ttl: promptCache };
  }
  const { breakpoints, ttlSeconds = 300 } = cache;
  return { breakpoints, ttl: ttlSeconds > 300 ? '1h' : '5m' };
}

function thinkingOf(thinking: NonNullable<Settings['thinking']>): ThinkingConfigParam {
  if (thinking.type === 'disabled') return { type: 'disabled' };
  const display = thinking.display === undefined ? {} : { display: thinking.display };
  return thinking.type === 'enabled'
    ? { type: 'enabled', budget_tokens: thinking.budgetTokens, ...display }
    : { type: 'adaptive', ...display };
}

/** The agent may ask for less than the option `maxTokens`, which the budget was checked against. */
function refuseBudget({ thinking }: Settings, maxTokens: number): void {
  if (thinking?.type !== 'enabled' || thinking.budgetTokens < maxTokens) return;
  throw modelRequestInvalid({
    reason: `sampling.maxTokens is ${maxTokens}, and thinking.budgetTokens ${thinking.budgetTokens} is part of it`,
    mend: 'Ask for more output tokens, or lower thinking.budgetTokens.',
  });
}

function outputConfig(
  { output, toolChoice }: ModelRequest,
  from: { readonly settings: Settings; readonly hasTools: boolean },
): OutputConfig {
  const { effort, structuredOutput } = from.settings;
  const mayCall = from.hasTools && toolChoice !== 'none';
  if (output !== undefined && structuredOutput === 'none') {
    throw modelRequestInvalid({
      reason: 'an output schema was asked for, but structuredOutput is "none"',
      mend: 'Leave the schema out, or set the option structuredOutput.',
    });
  }
  const isSent = output !== undefined && !(mayCall && structuredOutput === 'final-only');
  return {
    ...(effort === undefined ? {} : { effort }),
    ...(isSent ? { format: { type: 'json_schema', schema: grammarSchema(output.schema) } } : {}),
  };
}
