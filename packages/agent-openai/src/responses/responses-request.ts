import type { ModelRequest } from '@hexagent/agent-core';
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses';
import type { Settings } from '../openai-options.ts';
import { perRequest, promptCachePlan } from '../prompt-cache.ts';
import { toolChoiceOf } from '../tool-choice.ts';
import type { WireOutput, WireTools } from '../wire-schemas.ts';
import { responsesInput } from './responses-input.ts';

type Body = ResponseCreateParamsStreaming;
type Schemas = { readonly wire: WireTools; readonly output: WireOutput | undefined };

/** The body of a request to `/responses`. Nothing is stored at the provider: the conversation is ours. */
export function responsesRequest(
  request: ModelRequest,
  model: string,
  options: Schemas & { readonly settings: Settings },
): Body {
  const { settings, wire, output } = options;
  const cache = promptCachePlan(request, model, settings);
  return {
    ...settings.fields,
    model,
    stream: true,
    store: false,
    ...responsesInput(request.messages, { provider: settings.id, breakpoints: cache.breakpoints }),
    ...toolFields(request, wire, settings),
    ...textFields(output, settings),
    ...reasoningFields(settings),
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
    tools: tools.map((tool) => ({ type: 'function', ...tool })),
    tool_choice:
      typeof choice === 'string' ? choice : { type: 'function', name: names.toWire(choice.name) },
    ...(parallelToolCalls === undefined ? {} : { parallel_tool_calls: parallelToolCalls }),
  };
}

function textFields(output: WireOutput | undefined, { verbosity }: Settings): Pick<Body, 'text'> {
  if (output === undefined && verbosity === undefined) return {};
  return {
    text: {
      ...(verbosity === undefined ? {} : { verbosity }),
      ...(output === undefined
        ? {}
        : {
            format: {
              type: 'json_schema',
              name: output.name,
              schema: output.schema,
              strict: output.strict,
            },
          }),
    },
  };
}

/** Asked for only where the options say that the model reasons: other models refuse the question. */
function reasoningFields({ reasoning }: Settings): Pick<Body, 'reasoning' | 'include'> {
  if (reasoning === undefined) return {};
  const isAsked = reasoning.effort !== undefined || reasoning.summary !== undefined;
  return {
    ...(isAsked ? { reasoning: { ...reasoning } } : {}),
    include: ['reasoning.encrypted_content'],
  };
}

function samplingFields({
  sampling = {},
}: ModelRequest): Pick<Body, 'temperature' | 'top_p' | 'max_output_tokens'> {
  const { temperature, topP, maxTokens } = sampling;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
  };
}

function serviceFields(
  request: ModelRequest,
  { serviceTier, safetyIdentifier }: Settings,
): Pick<Body, 'service_tier' | 'safety_identifier'> {
  const identifier = perRequest(safetyIdentifier, request);
  return {
    ...(serviceTier === undefined ? {} : { service_tier: serviceTier }),
    ...(identifier === undefined ? {} : { safety_identifier: identifier }),
  };
}
