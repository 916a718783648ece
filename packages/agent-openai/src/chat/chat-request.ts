import type { ModelRequest } from '@hexagent/agent-core';
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import type { Settings } from '../openai-options.ts';
import { perRequest, promptCachePlan } from '../prompt-cache.ts';
import { toolChoiceOf } from '../tool-choice.ts';
import type { WireOutput, WireTools } from '../wire-schemas.ts';
import { chatMessages } from './chat-messages.ts';

type Body = ChatCompletionCreateParamsStreaming;

/** The body of a request to `/chat/completions`. */
export function chatRequest(
  request: ModelRequest,
  model: string,
  options: {
    readonly wire: WireTools;
    readonly output: WireOutput | undefined;
    readonly settings: Settings;
  },
): Body {
  const { settings, wire, output } = options;
  const cache = promptCachePlan(request, model, settings);
  return {
    ...settings.fields,
    model,
    stream: true,
    stream_options: { include_usage: true },
    messages: chatMessages(request.messages, cache.breakpoints),
    ...toolFields(request, wire, settings),
    ...outputFields(output),
    ...samplingFields(request),
    ...cache.fields,
    ...serviceFields(request, settings),
  };
}

function toolFields(
  request: ModelRequest,
  { tools, names }: WireTools,
  { parallelToolCalls }: Settings,
): Pick<Body, 'tools' | 'tool_choice' | 'parallel_tool_calls'> {
  const choice = toolChoiceOf(request);
  if (choice === undefined) return {};
  return {
    tools: tools.map((tool) => ({ type: 'function', function: tool })),
    tool_choice:
      typeof choice === 'string'
        ? choice
        : { type: 'function', function: { name: names.toWire(choice.name) } },
    ...(parallelToolCalls === undefined ? {} : { parallel_tool_calls: parallelToolCalls }),
  };
}

function outputFields(output: WireOutput | undefined): Pick<Body, 'response_format'> {
  if (output === undefined) return {};
  const { name, schema, strict } = output;
  return { response_format: { type: 'json_schema', json_schema: { name, schema, strict } } };
}

function samplingFields({
  sampling = {},
}: ModelRequest): Pick<Body, 'temperature' | 'top_p' | 'max_completion_tokens'> {
  const { temperature, topP, maxTokens } = sampling;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(maxTokens === undefined ? {} : { max_completion_tokens: maxTokens }),
  };
}

function serviceFields(
  request: ModelRequest,
  { serviceTier, safetyIdentifier, verbosity, reasoning }: Settings,
): Pick<Body, 'service_tier' | 'safety_identifier' | 'verbosity' | 'reasoning_effort'> {
  const identifier = perRequest(safetyIdentifier, request);
  return {
    ...(serviceTier === undefined ? {} : { service_tier: serviceTier }),
    ...(identifier === undefined ? {} : { safety_identifier: identifier }),
    ...(verbosity === undefined ? {} : { verbosity }),
    ...(reasoning?.effort === undefined ? {} : { reasoning_effort: reasoning.effort }),
  };
}
