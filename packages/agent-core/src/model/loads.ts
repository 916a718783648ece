import { untilAborted } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { ModelLoad } from './agent-model.ts';
import type { Candidate, Route } from './route.ts';

/** How long a load that was asked for is good enough, and how long an answer is waited for. */
const LOAD_MS = { kept: 1_000, waited: 250 };

/** What servers have to do, asked for at most once a second each; calls of this process are always up to date. */
export class Loads {
  readonly #clock: Clock;
  readonly #known = new Map<Route, { readonly at: number; readonly load: ModelLoad | undefined }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The least busy first. A server that does not say counts by the calls of this process alone. */
  async sorted(
    candidates: readonly Candidate[],
    signal: AbortSignal,
  ): Promise<readonly Candidate[]> {
    const weighed = await Promise.all(
      candidates.map(async (one) => ({ one, ...(await this.#weight(one.route, signal)) })),
    );
    return weighed
      .sort((left, right) => left.waiting - right.waiting || left.running - right.running)
      .map(({ one }) => one);
  }

  async #weight(
    route: Route,
    signal: AbortSignal,
  ): Promise<{ readonly waiting: number; readonly running: number }> {
    const load = await this.#load(route, signal);
    const { gate } = route;
    return {
      waiting: (load?.waiting ?? 0) + gate.waiting,
      running: Math.max(load?.running ?? 0, gate.running),
    };
  }

  async #load(route: Route, signal: AbortSignal): Promise<ModelLoad | undefined> {
    const { model } = route;
    if (model.load === undefined) return undefined;
    const now = this.#clock.monotonic();
    const known = this.#known.get(route);
    if (known !== undefined && now - known.at < LOAD_MS.kept) return known.load;
    const limit = new AbortController();
    const timer = new AbortController();
    this.#clock.sleep(LOAD_MS.waited, timer).then(
      () => limit.abort(new Error('The server did not say in time how busy it is.')),
      () => undefined,
    );
    let load: ModelLoad | undefined;
    try {
      load = await untilAborted(untilAborted(model.load(limit), limit.signal), signal);
    } catch {
      signal.throwIfAborted();
    } finally {
      timer.abort();
    }
    this.#known.set(route, { at: now, load });
    return load;
  }
}
