import type { Message } from '../vocabulary/message.ts';
import { type ModelSelection, namesNothing } from '../vocabulary/model-selection.ts';
import type { AgentModel, ModelCapabilities, ModelRequest } from './agent-model.ts';
import type { ModelCatalogue } from './catalogue.ts';
import { estimatedTokens } from './estimate.ts';
import type { Gate } from './gate.ts';
import { modalityOf } from './modality.ts';
import { providerOf } from './provider-names.ts';

/** One model of a router, under the name by which callers select it as their `profile`. */
export type Route = {
  readonly name: string;
  readonly model: AgentModel;
  readonly gate: Gate;
};

/** A route with what it can do for a certain selection, and the selection as its model gets it. */
export type Candidate = {
  readonly route: Route;
  readonly selection: ModelSelection | undefined;
  readonly capabilities: ModelCapabilities;
};

/** The routes that take a selection, those first that it names. */
export function takers(
  routes: readonly Route[],
  selection: ModelSelection | undefined,
): readonly Candidate[] {
  if (selection === undefined || namesNothing(selection))
    return routes.map((route) => candidate(route, undefined));
  const { profile, ...rest } = selection;
  const named = routes.find(({ name }) => name === profile);
  const left = named === undefined ? selection : rest;
  const asked = named === undefined ? routes : [named];
  const taking = asked
    .filter((route) => whyNotTaken(route, left) === undefined)
    .map((route) => candidate(route, namesNothing(left) ? undefined : left));
  // By the model that a route has by itself: an adapter that takes any name tells the selected one with it.
  const isExact = ({ route }: Candidate): boolean =>
    route.model.capabilities().model === left.model;
  return left.model === undefined
    ? taking
    : [...taking.filter(isExact), ...taking.filter((one) => !isExact(one))];
}

function candidate(route: Route, selection: ModelSelection | undefined): Candidate {
  return { route, selection, capabilities: route.model.capabilities(selection) };
}

/** A model that does not say what it takes takes every name of a model, and its own name as the provider's. */
export function whyNotTaken({ model }: Route, selection: ModelSelection): string | undefined {
  if (namesNothing(selection)) return undefined;
  if (model.selectionProblem !== undefined) return model.selectionProblem(selection);
  if (selection.profile !== undefined) return `it has no profile "${selection.profile}"`;
  const provider = providerOf(model);
  return selection.provider === undefined || selection.provider === provider
    ? undefined
    : `its provider is "${provider}"`;
}

/** Why a route cannot answer a request; undefined when it can. */
export function whyUnfit(
  { route, capabilities }: Candidate,
  request: ModelRequest,
  catalogue: ModelCatalogue | undefined,
): string | undefined {
  const { tools, structuredOutput, inputModalities } = capabilities;
  if (request.tools.length > 0 && !tools) return 'it takes no tools';
  const missing = modalitiesOf(request.messages).find((kind) => !inputModalities.includes(kind));
  if (missing !== undefined) return `it reads no ${missing}`;
  const needed = request.tools.length > 0 ? ['with-tools'] : ['with-tools', 'final-only'];
  if (request.output !== undefined && !needed.includes(structuredOutput))
    return request.tools.length > 0
      ? 'it takes no output schema beside tools'
      : 'it takes no output schema';
  const window =
    capabilities.contextWindow ?? entryOf(route, capabilities, catalogue)?.contextWindow;
  const size = estimatedTokens(request) + (request.sampling?.maxTokens ?? 0);
  return window === undefined || size <= window
    ? undefined
    : `its window is ${window} tokens, and the request is about ${size}`;
}

function modalitiesOf(messages: readonly Message[]): readonly string[] {
  const kinds = new Set<string>();
  for (const { parts } of messages)
    for (const part of parts)
      for (const piece of part.type === 'tool-result' ? part.content : [part])
        if (piece.type === 'media') kinds.add(modalityOf(piece.mediaType));
  return [...kinds];
}

export function entryOf(
  { model }: Route,
  capabilities: ModelCapabilities,
  catalogue: ModelCatalogue | undefined,
): ReturnType<ModelCatalogue['find']> {
  if (capabilities.model === undefined) return undefined;
  const provider = capabilities.provider ?? model.id;
  return catalogue?.find({ provider, model: capabilities.model });
}

/** The provider whose opaque state the newest turn holds: only it can read on. */
export function stateHolder(messages: readonly Message[]): string | undefined {
  for (const { role, origin, parts } of messages.toReversed()) {
    if (role === 'user' && origin === 'user') return undefined;
    for (const part of parts)
      if ((part.type === 'reasoning' || part.type === 'tool-call') && part.provider !== undefined)
        return part.provider.provider;
  }
  return undefined;
}

export function isHeldBy({ route, capabilities }: Candidate, provider: string): boolean {
  return route.model.id === provider || capabilities.provider === provider;
}
