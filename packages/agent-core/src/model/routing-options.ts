import type { Problem } from '../base/error-catalog.ts';
import { ERROR_CODES, type ErrorCode } from '../base/error-codes.ts';
import type { ModelCapabilities, ModelRequest } from './agent-model.ts';
import type { ModelCatalogue } from './catalogue.ts';

export const ROUTE_POLICIES = ['first', 'cheapest', 'least-loaded'] as const;

/** Orders the routes that can answer a request, by name; those that it leaves out are not asked. */
export type RouteChoice = (
  routes: readonly { readonly name: string; readonly capabilities: ModelCapabilities }[],
  request: ModelRequest,
) => readonly string[] | Promise<readonly string[]>;

export type RoutingOptions = {
  /** The route that is asked first where nothing is selected. Default: the first. */
  readonly default?: string;
  /**
   * Which of the routes that can answer does: `first` the default one, then in the order given (default); `cheapest` by the
   * prices of `catalogue`, those without a price last; `least-loaded` by what the servers say and what this process has
   * under way; or a function.
   */
  readonly policy?: (typeof ROUTE_POLICIES)[number] | RouteChoice;
  /** Routes that are asked when the chosen one fails, in order. They too must take what the run selects. Default: none. */
  readonly fallback?: readonly string[];
  /** Errors after which they are. Default `FALLBACK_CODES`; beside them, a prompt that is too long goes on to a route with a larger window. */
  readonly fallbackOn?: readonly ErrorCode[];
  /** How many calls of a route go on at once; further ones wait in order. */
  readonly concurrency?: Readonly<Record<string, number>>;
  /** Prices for `cheapest`, and windows of models that do not say their own. */
  readonly catalogue?: ModelCatalogue;
};

/** What is wrong with the options of a router over routes of these names. */
export function routingProblems(
  names: readonly string[],
  { default: first, policy, fallback = [], fallbackOn = [], concurrency = {} }: RoutingOptions,
): readonly Problem[] {
  const mend = `Known routes: ${names.join(', ') || 'none'}.`;
  const unknown = (name: string, at: string): readonly Problem[] =>
    names.includes(name) ? [] : [{ at, seen: `names "${name}", which is no route.`, mend }];
  const isPolicy =
    policy === undefined ||
    typeof policy === 'function' ||
    (ROUTE_POLICIES as readonly unknown[]).includes(policy);
  return [
    ...(names.length > 0
      ? []
      : [{ at: 'routes', seen: 'is empty.', mend: 'Give at least one route.' }]),
    ...(first === undefined ? [] : unknown(first, 'default')),
    ...fallback.flatMap((name, index) => unknown(name, `fallback[${index}]`)),
    ...Object.keys(concurrency).flatMap((name) => unknown(name, `concurrency.${name}`)),
    ...Object.entries(concurrency).flatMap(([name, value]) =>
      Number.isInteger(value) && value > 0
        ? []
        : [
            {
              at: `concurrency.${name}`,
              seen: `is ${String(value)}.`,
              mend: 'Give a whole number, at least 1.',
            },
          ],
    ),
    ...(isPolicy
      ? []
      : [
          {
            at: 'policy',
            seen: `is ${JSON.stringify(policy)}.`,
            mend: `Choose one of: ${ROUTE_POLICIES.join(', ')}; or give a function.`,
          },
        ]),
    ...fallbackOn.flatMap((code, index) =>
      (ERROR_CODES as readonly string[]).includes(code)
        ? []
        : [
            {
              at: `fallbackOn[${index}]`,
              seen: `is ${JSON.stringify(code)}.`,
              mend: 'Give a code of an error.',
            },
          ],
    ),
  ];
}
