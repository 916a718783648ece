import { modelFailed } from '../base/error-catalog.ts';
import type { JsonObject } from '../base/json.ts';
import { bind } from '../base/port.ts';
import { definePlugin, type Plugin } from '../bootstrap/plugin.ts';
import {
  type AgentModel,
  Model,
  type ModelCapabilities,
  type ModelEvent,
  type ModelRequest,
} from '../model/agent-model.ts';
import type { Usage } from '../vocabulary/usage.ts';

/** One answer of a scripted model. */
export type ScriptStep = {
  /** Pieces are streamed one batch each. */
  readonly text?: string | readonly string[];
  readonly reasoning?: string;
  readonly calls?: readonly { readonly name: string; readonly input: JsonObject | string }[];
  readonly finish?: Extract<ModelEvent, { type: 'finish' }>['reason'];
  readonly usage?: Usage;
  /** Thrown in place of `finish`, after what the step has streamed. */
  readonly error?: Error;
  /** Looks at the request; throws when it is not what the test expects. */
  readonly expect?: (request: ModelRequest) => void;
  /** Awaited before the step goes on: a gate. */
  readonly until?: Promise<unknown>;
};

/** Answers one after the other, or what makes each answer from its request: for a model that many runs ask, in any order. */
export type Script = readonly ScriptStep[] | ((request: ModelRequest) => ScriptStep);

export type ScriptOptions = {
  readonly capabilities?: Partial<ModelCapabilities>;
};

/** A scripted model and what it has seen. */
export interface ScriptedModel extends AgentModel {
  /** All of them, from the first. */
  readonly requests: readonly ModelRequest[];
  /** Steps of a list that were never asked for. */
  readonly unused: number;
  /** Fails a test whose run asked less often than the script has steps. Throws `MODEL_FAILED`. */
  assertUsed(): void;
}

const CAPABILITIES: ModelCapabilities = {
  tools: true,
  reasoning: true,
  structuredOutput: 'with-tools',
  inputModalities: ['text'],
};

/**
 * A model that plays a script, for tests and offline demos.
 *
 * - A list has one step a request. A request beyond the last step fails with `MODEL_FAILED`; a test ends with
 *   `model.assertUsed()`, which fails on a step that nobody asked for.
 * - A function makes the step of each request. It has no end, so it also stands in for the model of a service. What it throws
 *   is the failure of that request.
 *
 * @example
 * const model = scriptedModel([{ calls: [{ name: 'look', input: { id: '7' } }] }, { text: 'There.' }]);
 * const echo = scriptedModel(({ messages }) => ({ text: `You: ${textOf(messages.at(-1)?.parts ?? [])}` }));
 */
export function scriptedModel(
  script: Script,
  options: ScriptOptions = {},
): Plugin & { readonly model: ScriptedModel } {
  const model = scripted(script, options);
  const plugin = definePlugin<Record<string, never>>({
    manifest: {
      name: 'scripted-model',
      version: '0.0.0',
      contract: 1,
      contributes: [Model],
      requires: [],
      options: { type: 'object', properties: {}, additionalProperties: false },
    },
    setup: () => [bind(Model, model)],
  })({});
  return { ...plugin, model };
}

/** The model alone, for tests that need no application. */
export function scripted(script: Script, { capabilities }: ScriptOptions = {}): ScriptedModel {
  const requests: ModelRequest[] = [];
  const steps = typeof script === 'function' ? [] : script;
  const unused = (): number => Math.max(0, steps.length - requests.length);
  return {
    id: 'scripted',
    requests,
    get unused() {
      return unused();
    },
    assertUsed: () => {
      if (unused() > 0) throw leftOver(unused(), steps.length);
    },
    capabilities: () => ({ ...CAPABILITIES, ...capabilities }),
    stream: (request, { signal }) => {
      requests.push(request);
      if (typeof script === 'function') return play(script, request, signal);
      const step = steps[requests.length - 1];
      if (step === undefined) throw unexpected(requests.length, steps.length);
      return play(() => step, request, signal);
    },
  };
}

function unexpected(asked: number, scriptedSteps: number): Error {
  return modelFailed({
    reason: `The scripted model was asked for request ${asked} and has ${scriptedSteps} steps.`,
    mend: 'Add a step to scriptedModel([…]), or find out why the run asks again.',
    retryable: false,
  });
}

function leftOver(count: number, scriptedSteps: number): Error {
  return modelFailed({
    reason: `The scripted model has ${scriptedSteps} steps, and ${count} of them were never asked for.`,
    mend: 'Take steps out of scriptedModel([…]), or find out why the run ends early.',
    retryable: false,
  });
}

async function* play(
  stepOf: (request: ModelRequest) => ScriptStep,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelEvent[], void, void> {
  const step = stepOf(request);
  step.expect?.(request);
  if (step.until !== undefined) await step.until;
  signal.throwIfAborted();
  if (step.reasoning !== undefined) yield [{ type: 'reasoning', text: step.reasoning }];
  for (const text of typeof step.text === 'string' ? [step.text] : (step.text ?? [])) {
    yield [{ type: 'text', text }];
    signal.throwIfAborted();
  }
  const calls = step.calls ?? [];
  for (const [index, { name, input }] of calls.entries()) {
    yield [
      { type: 'tool-call-start', index, name, providerCallId: `call_${index}` },
      {
        type: 'tool-call-delta',
        index,
        delta: typeof input === 'string' ? input : JSON.stringify(input),
      },
    ];
  }
  if (step.error !== undefined) throw step.error;
  yield [
    {
      type: 'finish',
      reason: step.finish ?? (calls.length > 0 ? 'tool-calls' : 'stop'),
      usage: step.usage ?? { inputTokens: 10, outputTokens: 5 },
      model: 'scripted',
    },
  ];
}
