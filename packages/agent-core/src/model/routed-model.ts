import type { Stop } from '../base/abort.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import type { AgentError } from '../base/error.ts';
import { inputInvalid, modelRequestInvalid } from '../base/error-catalog.ts';
import { type ModelSelection, selectionText } from '../vocabulary/model-selection.ts';
import type { AgentModel, ModelCapabilities, ModelRequest } from './agent-model.ts';
import { selecting, standsFor } from './call-notes.ts';
import type { ModelCatalogue } from './catalogue.ts';
import { type ChainLink, chainStream, StepMemory } from './chain.ts';
import { estimatedTokens } from './estimate.ts';
import { FALLBACK_CODES } from './fallback.ts';
import { Gate } from './gate.ts';
import { Loads } from './loads.ts';
import { picosPerToken } from './prices.ts';
import { sharedNames } from './provider-names.ts';
import { gated } from './rate-limit.ts';
import {
  type Candidate,
  entryOf,
  isHeldBy,
  type Route,
  stateHolder,
  takers,
  whyNotTaken,
  whyUnfit,
} from './route.ts';
import { type RouteChoice, type RoutingOptions, routingProblems } from './routing-options.ts';
import { type Batches, wrappedStream } from './wrapped-stream.ts';

export type RoutedModelOptions = RoutingOptions & {
  readonly routes: Readonly<Record<string, AgentModel>>;
  readonly clock?: Clock;
};

/**
 * Several models as one. A run that selects a `profile` gets the route of that name; `provider` and `model` go to the routes
 * that take them. Among those it asks one that can answer the request: its tools, its media, its output schema, its size.
 * A turn stays with the provider whose opaque state it holds, and the tries of one step with one route, unless that fails.
 *
 * @throws AgentError `INPUT_INVALID` with every problem at once.
 */
export function routedModel(options: RoutedModelOptions): AgentModel {
  const { routes: given, clock = systemClock, ...routing } = options;
  const problems = [
    ...routingProblems(Object.keys(given), routing),
    ...sharedNames(Object.entries(given).map(([name, model]) => ({ at: `routes.${name}`, model }))),
  ];
  if (problems.length > 0) throw inputInvalid('routedModel', problems);
  const { catalogue, concurrency = {} } = routing;
  const routes = inOrder(given, routing.default).map(([name, model]): Route => {
    const limit = concurrency[name];
    const gate = new Gate(limit === undefined ? {} : { concurrency: limit }, clock);
    return { name, model: gated(model, gate), gate };
  });
  const memory = new StepMemory();
  const choose = chooser(routing, new Loads(clock));
  const taking = (selection: ModelSelection | undefined): readonly Candidate[] => {
    const found = takers(routes, selection);
    if (found.length > 0) return found;
    throw modelRequestInvalid({ reason: refusal(routes, selection as ModelSelection) });
  };
  const fittingOf = (candidates: readonly Candidate[], request: ModelRequest) =>
    candidates.filter((one) => whyUnfit(one, request, catalogue) === undefined);
  const chosenOf = async (
    among: readonly Candidate[],
    request: ModelRequest,
    signal: AbortSignal,
  ): Promise<Candidate> => {
    const kept = memory.get(request.requestId);
    return among.find(({ route }) => route.name === kept) ?? choose(among, request, signal);
  };
  const countTokens = async (request: ModelRequest, stop: Stop): Promise<number> => {
    const candidates = taking(request.selection);
    const fitting = fittingOf(candidates, request);
    // A request that is too large for all of them is the one whose size is worth knowing.
    const among = fitting.length > 0 ? fitting : candidates;
    const chosen = await chosenOf(among, request, stop.signal);
    const { model, request: asked } = linkOf(chosen, request);
    return (model as CountingModel).countTokens(asked, stop);
  };
  return {
    id: 'router',
    capabilities: (selection) => jointCapabilities(taking(selection)),
    selectionProblem: (selection) =>
      takers(routes, selection).length > 0 ? undefined : refusal(routes, selection),
    stream: (request, stop) =>
      wrappedStream(stop, {
        open: async ({ signal }): Promise<Batches> => {
          const candidates = taking(request.selection);
          const fitting = fittingOf(candidates, request);
          if (fitting.length === 0) throw unfit(candidates, request, catalogue);
          const chosen = await chosenOf(fitting, request, signal);
          const links = linksOf(chosen, { candidates, request, routing });
          const chain = chainStream(request, stop, {
            links,
            memory,
            passes: (error, failed, next) => isPassed(error, { failed, next, routing, catalogue }),
          });
          return chain[Symbol.asyncIterator]();
        },
        ended: () => undefined,
      }),
    // Only where whichever answers can: nobody knows before a request which one that is.
    ...(routes.every(({ model }) => model.countTokens !== undefined) ? { countTokens } : {}),
  };
}

type CountingModel = Required<Pick<AgentModel, 'countTokens'>>;

function inOrder(
  given: Readonly<Record<string, AgentModel>>,
  first: string | undefined,
): readonly (readonly [string, AgentModel])[] {
  const all = Object.entries(given);
  return [...all.filter(([name]) => name === first), ...all.filter(([name]) => name !== first)];
}

/** What the router as a whole can do: the route that is asked first says how, the others add what they read. */
function jointCapabilities(candidates: readonly Candidate[]): ModelCapabilities {
  const all = candidates.map(({ capabilities }) => capabilities);
  const { model, provider, ...first } = all[0] as ModelCapabilities;
  const windows = all.flatMap(({ contextWindow }) => contextWindow ?? []);
  const only = all.length === 1;
  return {
    ...first,
    ...(windows.length === 0 ? {} : { contextWindow: Math.max(...windows) }),
    tools: all.some(({ tools }) => tools),
    reasoning: all.some(({ reasoning }) => reasoning),
    inputModalities: [...new Set(all.flatMap(({ inputModalities }) => inputModalities))],
    // Which of several will answer is not known before a call.
    ...(only && model !== undefined ? { model } : {}),
    ...(only ? { provider: provider ?? (candidates[0] as Candidate).route.model.id } : {}),
  };
}

function refusal(routes: readonly Route[], selection: ModelSelection): string {
  const why = routes.map(
    (route) => `${route.name}: ${whyNotTaken(route, selection) ?? 'not asked'}`,
  );
  return `no route takes ${selectionText(selection)} (${why.join('; ')})`;
}

function unfit(
  candidates: readonly Candidate[],
  request: ModelRequest,
  catalogue: ModelCatalogue | undefined,
): AgentError {
  const why = candidates.map((one) => `${one.route.name}: ${whyUnfit(one, request, catalogue)}`);
  return modelRequestInvalid({
    reason: `No route can answer the request (${why.join('; ')}).`,
    mend: 'Add a route that can, or ask for less.',
  });
}

type Chooser = (
  fitting: readonly Candidate[],
  request: ModelRequest,
  signal: AbortSignal,
) => Promise<Candidate>;

function chooser({ policy = 'first', catalogue }: RoutingOptions, loads: Loads): Chooser {
  const ordered = async (
    fitting: readonly Candidate[],
    request: ModelRequest,
    signal: AbortSignal,
  ): Promise<readonly Candidate[]> => {
    if (typeof policy === 'function')
      return byName(fitting, await policy(shownTo(fitting), request));
    if (policy === 'cheapest') return cheapest(fitting, request, catalogue);
    return policy === 'least-loaded' ? loads.sorted(fitting, signal) : fitting;
  };
  return async (fitting, request, signal) => {
    const holder = stateHolder(request.messages);
    const held = holder === undefined ? [] : fitting.filter((one) => isHeldBy(one, holder));
    const asked = held.length > 0 ? held : fitting;
    const [chosen] = asked.length === 1 ? asked : await ordered(asked, request, signal);
    if (chosen !== undefined) return chosen;
    throw modelRequestInvalid({
      reason: 'The policy of the router has chosen none of the routes that can answer.',
      mend: 'Answer at least one of the names that it is given.',
    });
  };
}

function shownTo(fitting: readonly Candidate[]): Parameters<RouteChoice>[0] {
  return fitting.map(({ route, capabilities }) => ({ name: route.name, capabilities }));
}

function byName(fitting: readonly Candidate[], names: readonly string[]): readonly Candidate[] {
  return names.flatMap((name) => fitting.filter(({ route }) => route.name === name));
}

/** Without a limit on the answer, one of this many tokens is assumed. */
const ANSWER_TOKENS = 1_000;

function cheapest(
  fitting: readonly Candidate[],
  request: ModelRequest,
  catalogue: ModelCatalogue | undefined,
): readonly Candidate[] {
  const input = BigInt(estimatedTokens(request));
  const output = BigInt(request.sampling?.maxTokens ?? ANSWER_TOKENS);
  const costs = new Map(
    fitting.map((one) => {
      const prices = entryOf(one.route, one.capabilities, catalogue)?.prices;
      const each = prices === undefined ? [] : [prices.input, prices.output].map(picosPerToken);
      const [ofInput, ofOutput] = each;
      const isPriced = ofInput !== undefined && ofOutput !== undefined;
      return [one, isPriced ? ofInput * input + ofOutput * output : undefined] as const;
    }),
  );
  const costOfOne = (one: Candidate): bigint | undefined => costs.get(one);
  return [...fitting].sort((left, right) => {
    const [one, other] = [costOfOne(left), costOfOne(right)];
    if (one === undefined || other === undefined)
      return Number(one === undefined) - Number(other === undefined);
    return one < other ? -1 : Number(one > other);
  });
}

/** The chosen route, then the fallbacks that can answer: an output schema that one of them cannot take is left out for it. */
function linksOf(
  chosen: Candidate,
  {
    candidates,
    request,
    routing,
  }: {
    readonly candidates: readonly Candidate[];
    readonly request: ModelRequest;
    readonly routing: RoutingOptions;
  },
): readonly [ChainLink, ...ChainLink[]] {
  const { fallback = [], catalogue } = routing;
  const others = byName(candidates, fallback)
    .filter((one) => one !== chosen)
    .flatMap((one) => {
      if (whyUnfit(one, request, catalogue) === undefined) return [linkOf(one, request)];
      const { output, ...plain } = request;
      const isFit = output !== undefined && whyUnfit(one, plain, catalogue) === undefined;
      return isFit ? [linkOf(one, withoutOutput(request))] : [];
    });
  return [linkOf(chosen, request), ...others];
}

function withoutOutput(request: ModelRequest): ModelRequest {
  const { output: _, ...plain } = request;
  return standsFor(plain, request);
}

function linkOf({ route, selection }: Candidate, request: ModelRequest): ChainLink {
  const { name, model } = route;
  const isSame = selection === request.selection;
  return { name, model, request: isSame ? request : selecting(request, selection) };
}

function isPassed(
  { code }: AgentError,
  {
    failed,
    next,
    routing,
    catalogue,
  }: {
    readonly failed: ChainLink;
    readonly next: ChainLink;
    readonly routing: RoutingOptions;
    readonly catalogue: ModelCatalogue | undefined;
  },
): boolean {
  const { fallbackOn = FALLBACK_CODES } = routing;
  if (fallbackOn.includes(code)) return true;
  if (code !== 'MODEL_CONTEXT_OVERFLOW') return false;
  const windowOf = ({ model, request }: ChainLink): number => {
    const capabilities = model.capabilities(request.selection);
    const known = capabilities.model;
    const provider = capabilities.provider ?? model.id;
    const entry = known === undefined ? undefined : catalogue?.find({ provider, model: known });
    return capabilities.contextWindow ?? entry?.contextWindow ?? 0;
  };
  return windowOf(next) > windowOf(failed);
}
