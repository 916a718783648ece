import type { ModelRequest, ModelTool } from '@hexagent/agent-core';
import {
  cacheBreakpoints,
  type JsonObject,
  modelRequestInvalid,
  toolNameCollision,
  type WireNames,
  wireName,
  wireNames,
} from '@hexagent/agent-core/adapter';
import type { ServerProfile } from './server-profile.ts';
import type { Settings } from './settings.ts';
import { thinkingFields } from './thinking.ts';
import { wireMessages } from './wire-messages.ts';

/** A request that was found fit to be sent, before anything is. */
export interface ChatRequest {
  readonly toName: WireNames['toName'];
  /** The body, as JSON text. */
  body(call: ChatCall): string;
  /** The body that counts its tokens, or renders its template. */
  countBody(model: string): string;
}

/** What is known only when a request is sent. */
export type ChatCall = {
  readonly model: string;
  readonly cacheSalt?: string | undefined;
  /** Instead of the number that the request asks for. */
  readonly maxTokens?: number;
};

/** Checks and writes a request; throws before any I/O. Keeps what does not change between the steps of a run. */
export type ChatRequests = (request: ModelRequest) => ChatRequest;

type WireTools = { readonly names: WireNames; readonly tools: readonly JsonObject[] };

/** Writers for one server. Never writes what vLLM refuses: empty `tools`, a choice without tools, `stream_options` without a stream. */
export function chatRequests(settings: Settings): ChatRequests {
  const { profile } = settings;
  const messagesOf = wireMessages(profile);
  const fixed = fixedFields(settings);
  const kept = new WeakMap<readonly ModelTool[], WireTools>();
  const toolsOf = (tools: readonly ModelTool[]): WireTools => {
    const known = kept.get(tools);
    if (known !== undefined) return known;
    const wire = wireTools(tools, profile);
    kept.set(tools, wire);
    return wire;
  };

  return (request) => {
    const { names, tools } = toolsOf(request.tools);
    const messages = messagesOf(request.messages, marksOf(request, settings)).join(',');
    const withMessages = (fields: JsonObject): string =>
      `${JSON.stringify(fields).slice(0, -1)},"messages":[${messages}]}`;
    const fields = {
      ...choiceOf(request, { names, tools, profile }),
      ...outputFields(request, profile),
      ...priorityOf(request, settings),
    };
    return {
      toName: names.toName,
      body: ({ model, cacheSalt, maxTokens }) =>
        withMessages({
          ...fixed.body,
          model,
          ...samplingFields(request, { profile, maxTokens }),
          ...fixed.template,
          ...fields,
          ...(cacheSalt === undefined ? {} : { cache_salt: cacheSalt }),
        }),
      countBody: (model) =>
        withMessages({
          model,
          add_generation_prompt: true,
          ...(tools.length === 0 ? {} : { tools }),
          ...fixed.template,
        }),
    };
  };
}

/** What every request says, and what its template is told, for counting too. */
function fixedFields(settings: Settings): {
  readonly body: JsonObject;
  readonly template: JsonObject;
} {
  const { thinking, profile, chatTemplateKwargs } = settings;
  const words = thinking === undefined ? undefined : thinkingFields(thinking, profile.thinking);
  const template = { ...words?.template, ...chatTemplateKwargs };
  return {
    body: { ...words?.body, ...settings.fields, ...streamFields(settings) },
    template: Object.keys(template).length === 0 ? {} : { chat_template_kwargs: template },
  };
}

/** Where the prompt is to be kept, for a server that keeps what is marked. */
function marksOf(
  { cache, messages }: ModelRequest,
  { profile, promptCache }: Settings,
): Parameters<ReturnType<typeof wireMessages>>[1] {
  if (profile.promptCache !== 'marked') return undefined;
  if (cache === undefined && promptCache === false) return undefined;
  const at = cache === undefined ? cacheBreakpoints(messages) : cache.breakpoints;
  const isLong = cache === undefined ? promptCache === '1h' : (cache.ttlSeconds ?? 0) > 300;
  return { at, mark: { cache_control: { type: 'ephemeral', ...(isLong ? { ttl: '1h' } : {}) } } };
}

function priorityOf(request: ModelRequest, { priority }: Settings): JsonObject {
  const asked = typeof priority === 'function' ? priority(request) : priority;
  if (asked === undefined || asked === 0) return {};
  if (Number.isInteger(asked)) return { priority: asked };
  throw modelRequestInvalid({
    reason: `the function of priority gave ${String(asked)}`,
    mend: 'Let it give a whole number, or undefined.',
  });
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

function samplingFields(
  { sampling = {} }: ModelRequest,
  given: { readonly profile: ServerProfile; readonly maxTokens: number | undefined },
): JsonObject {
  const { temperature, topP } = sampling;
  const { profile, maxTokens = sampling.maxTokens } = given;
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
