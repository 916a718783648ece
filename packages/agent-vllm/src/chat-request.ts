import type { ModelRequest, ModelTool } from '@hexagent/agent-core';
import {
  type JsonObject,
  modelRequestInvalid,
  toolNameCollision,
  type WireNames,
  wireName,
  wireNames,
} from '@hexagent/agent-core/adapter';
import type { ServerProfile } from './server-profile.ts';
import type { Settings } from './vllm-options.ts';
import { wireMessages } from './wire-messages.ts';

export type ChatRequest = {
  /** The body, as JSON text. */
  readonly body: string;
  readonly toName: WireNames['toName'];
};

/** Writes requests; keeps what does not change between the steps of a run. */
export interface ChatRequests {
  chat(request: ModelRequest, model: string): ChatRequest;
  /** The body of `/tokenize` for the same request. */
  tokenize(request: ModelRequest, model: string): string;
}

type WireTools = { readonly names: WireNames; readonly tools: readonly JsonObject[] };

/** Writers for one server. Never writes what vLLM refuses: empty `tools`, a choice without tools, `stream_options` without a stream. */
export function chatRequests(settings: Settings): ChatRequests {
  const { profile } = settings;
  const messagesOf = wireMessages(profile);
  const kept = new WeakMap<readonly ModelTool[], WireTools>();
  const toolsOf = (tools: readonly ModelTool[]): WireTools => {
    const known = kept.get(tools);
    if (known !== undefined) return known;
    const wire = wireTools(tools, profile);
    kept.set(tools, wire);
    return wire;
  };
  const withMessages = (fields: JsonObject, request: ModelRequest): string =>
    `${JSON.stringify(fields).slice(0, -1)},"messages":[${messagesOf(request.messages).join(',')}]}`;

  return {
    chat(request, model) {
      const { names, tools } = toolsOf(request.tools);
      const choice = choiceOf(request, { names, tools, profile });
      const fields = {
        ...settings.fields,
        model,
        ...streamFields(settings),
        ...samplingFields(request, profile),
        ...(settings.chatTemplateKwargs === undefined
          ? {}
          : { chat_template_kwargs: settings.chatTemplateKwargs }),
        ...choice,
        ...outputFields(request, profile),
      };
      return { body: withMessages(fields, request), toName: names.toName };
    },
    tokenize(request, model) {
      const { tools } = toolsOf(request.tools);
      const fields = {
        model,
        add_generation_prompt: true,
        ...(tools.length === 0 ? {} : { tools }),
        ...(settings.chatTemplateKwargs === undefined
          ? {}
          : { chat_template_kwargs: settings.chatTemplateKwargs }),
      };
      return withMessages(fields, request);
    },
  };
}

function wireTools(tools: readonly ModelTool[], profile: ServerProfile): WireTools {
  const names = wireNames(tools.map(({ name }) => name));
  if ('problems' in names) throw toolNameCollision(names.problems);
  return {
    names,
    tools: tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: {
        name: names.toWire(name),
        description,
        parameters,
        ...(profile.strictTools ? { strict: true } : {}),
      },
    })),
  };
}

function choiceOf(
  request: ModelRequest,
  wire: WireTools & { readonly profile: ServerProfile },
): JsonObject {
  const { toolChoice } = request;
  const { names, tools, profile } = wire;
  const named = typeof toolChoice === 'string' ? undefined : toolChoice.name;
  if (tools.length === 0) {
    if (toolChoice === 'auto' || toolChoice === 'none') return {};
    throw modelRequestInvalid({
      reason: `toolChoice is ${JSON.stringify(toolChoice)}, but no tool is offered`,
      mend: 'Offer the tool, or use "auto".',
    });
  }
  if (named === undefined) {
    if (profile.toolChoice === 'ignored') return toolChoice === 'none' ? {} : { tools };
    return { tools, tool_choice: toolChoice };
  }
  const offered = request.tools.findIndex(({ name }) => name === named);
  const only = tools[offered];
  if (only === undefined) {
    throw modelRequestInvalid({
      reason: `toolChoice names "${named}", which is not offered`,
      mend: `Choose one of ${request.tools.map(({ name }) => name).join(', ')}.`,
    });
  }
  if (profile.toolChoice === 'ignored') return { tools: [only] };
  if (profile.toolChoice === 'only-that-tool') return { tools: [only], tool_choice: 'required' };
  return { tools, tool_choice: { type: 'function', function: { name: names.toWire(named) } } };
}

function streamFields({ stream, profile }: Settings): JsonObject {
  if (!stream) return { stream: false };
  return profile.streamUsage
    ? { stream: true, stream_options: { include_usage: true } }
    : { stream: true };
}

function samplingFields({ sampling = {} }: ModelRequest, profile: ServerProfile): JsonObject {
  const { temperature, topP, maxTokens } = sampling;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(maxTokens === undefined ? {} : { [profile.maxTokensField]: maxTokens }),
  };
}

/** A schema waits for a request in which no tool may be called, where it would keep the model from calling. */
function outputFields(
  request: ModelRequest,
  { structuredOutput, name }: ServerProfile,
): JsonObject {
  const { output, tools, toolChoice } = request;
  if (output === undefined) return {};
  if (structuredOutput === 'none') {
    throw modelRequestInvalid({
      reason: `an output schema was asked for, but a server of profile "${name}" takes none`,
      mend: 'Leave the schema out, or set structuredOutput in the profile.',
    });
  }
  const mayCall = tools.length > 0 && toolChoice !== 'none';
  if (mayCall && structuredOutput === 'final-only') return {};
  return {
    response_format: {
      type: 'json_schema',
      json_schema: { name: wireName(output.name), schema: output.schema, strict: true },
    },
  };
}
