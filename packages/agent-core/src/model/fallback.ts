import { inputInvalid } from '../base/error-catalog.ts';
import type { ErrorCode } from '../base/error-codes.ts';
import type { AgentModel, ModelRequest } from './agent-model.ts';
import { selecting } from './call-notes.ts';
import { type ChainLink, chainStream, StepMemory } from './chain.ts';
import { commonCapabilities } from './joint-capabilities.ts';
import { sharedNames } from './provider-names.ts';

/** What another model may answer better: the one that failed is away, busy or broken. What is wrong with the request or the key is not hidden. */
export const FALLBACK_CODES: readonly ErrorCode[] = [
  'MODEL_UNREACHABLE',
  'MODEL_TIMEOUT',
  'MODEL_RATE_LIMITED',
  'MODEL_OVERLOADED',
  'MODEL_RESPONSE_INVALID',
  'MODEL_STREAM_TRUNCATED',
  'MODEL_FAILED',
];

export type FallbackOptions = {
  /** Errors after which the next model is asked. Default `FALLBACK_CODES`. */
  readonly on?: readonly ErrorCode[];
};

/**
 * The first of several models that answers. What it says it can do is what all of them can; a selection is the first one's,
 * and another one gets it only where it takes it. `finish` says who has answered.
 *
 * @throws AgentError `INPUT_INVALID` for an empty list, or one with two addresses under one name of a provider.
 */
export function withFallbacks(
  models: readonly AgentModel[],
  { on = FALLBACK_CODES }: FallbackOptions = {},
): AgentModel {
  const [first, ...others] = models;
  if (first === undefined)
    throw inputInvalid('withFallbacks', [
      {
        at: 'models',
        seen: 'is empty.',
        mend: 'Give the models in the order in which they are asked.',
      },
    ]);
  const problems = sharedNames(models.map((model, index) => ({ at: `models[${index}]`, model })));
  if (problems.length > 0) throw inputInvalid('withFallbacks', problems);
  const memory = new StepMemory();
  const { address, countTokens, selectionProblem, load } = first;
  return {
    id: first.id,
    ...(address === undefined ? {} : { address }),
    capabilities: (selection) =>
      commonCapabilities([
        first.capabilities(selection),
        ...others.map((model) =>
          model.capabilities(selection && takes(model, selection) ? selection : undefined),
        ),
      ]),
    stream: (request, stop) => {
      const links = [
        linkOf(first, 0, request),
        ...others.map((model, index) => linkOf(model, index + 1, request)),
      ] as const;
      return chainStream(request, stop, {
        links: links as readonly [ChainLink, ...ChainLink[]],
        memory,
        passes: ({ code }) => on.includes(code),
      });
    },
    ...(countTokens === undefined
      ? {}
      : { countTokens: (request, stop) => countTokens.call(first, request, stop) }),
    ...(selectionProblem === undefined
      ? {}
      : { selectionProblem: (selection) => selectionProblem.call(first, selection) }),
    ...(load === undefined ? {} : { load: (stop) => load.call(first, stop) }),
  };
}

function linkOf(model: AgentModel, index: number, request: ModelRequest): ChainLink {
  const { selection } = request;
  const keeps = index === 0 || selection === undefined || takes(model, selection);
  return {
    name: `${index} (${model.id})`,
    model,
    request: keeps ? request : selecting(request, undefined),
  };
}

/** A model that does not say what it takes is not handed what was chosen for another one. */
function takes(model: AgentModel, selection: NonNullable<ModelRequest['selection']>): boolean {
  return model.selectionProblem !== undefined && model.selectionProblem(selection) === undefined;
}
