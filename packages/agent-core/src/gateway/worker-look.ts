import { type Linked, linked } from '../base/abort.ts';
import type { RunId } from '../base/ids.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import type { ActiveRun } from '../runner/active-run.ts';
import type { GatewayParts } from './drive.ts';
import type { CheckedWorkerOptions } from './worker-options.ts';

/** How long a store that has failed is left alone, doubled each time up to the second number, in milliseconds. */
const BACK_OFF_MS = [250, 10_000] as const;
/** The same run so often in a row, and nothing else: waiting a little costs nothing, and a busy loop everybody. */
const MOST_IN_A_ROW = 3;

/** How long a worker waits before it looks for work again, and what else ends the wait. */
export type NextLook = {
  readonly ms: number;
  readonly endsOn: readonly ('rest' | 'word')[];
};

/** Waiting that began before a look: what becomes claimable in between is heard. */
type Waiting = { until(next: NextLook): Promise<void>; end(): void };

/** When a worker looks for work, and of which agents. Polling is the truth, a word of the store a hint. */
export class Look {
  readonly #parts: GatewayParts;
  readonly #options: CheckedWorkerOptions;
  #failures = 0;
  #last: { readonly runId: RunId; readonly times: number } | undefined;
  #hasRested = false;
  #onRested: (() => void) | undefined;

  constructor(parts: GatewayParts, options: CheckedWorkerOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** The agents that have a place left: one whose runs hang leaves the others theirs. */
  agentsWithPlace(running: readonly ActiveRun[]): readonly string[] {
    const { agents, concurrency, perAgent } = this.#options;
    if (running.length >= concurrency) return [];
    const taken = (agent: string): number =>
      running.filter(({ facts }) => facts.definition.name === agent).length;
    return agents.filter((agent) => taken(agent) < perAgent);
  }

  /** A claim was answered, with this run or with none. */
  claimed(runId: RunId | undefined): void {
    this.#failures = 0;
    if (runId !== undefined)
      this.#last = { runId, times: this.#last?.runId === runId ? this.#last.times + 1 : 1 };
  }

  /** One run only, again and again, in the time of one look: it comes to rest at once and can be claimed again at once. */
  isGoingRound(): boolean {
    return (this.#last?.times ?? 0) >= MOST_IN_A_ROW;
  }

  rested(): void {
    this.#hasRested = true;
    this.#onRested?.();
  }

  whenRested(): NextLook {
    return { ms: this.#options.pollMs, endsOn: ['rest'] };
  }

  whenHeard(): NextLook {
    return { ms: this.#options.pollMs, endsOn: ['rest', 'word'] };
  }

  later(): NextLook {
    return { ms: this.#options.pollMs, endsOn: [] };
  }

  afterFailure(): NextLook {
    const [first, most] = BACK_OFF_MS;
    this.#failures += 1;
    return { ms: Math.min(first * 2 ** (this.#failures - 1), most), endsOn: [] };
  }

  begin(stopping: AbortSignal): Waiting {
    this.#hasRested = false;
    const own = linked(stopping);
    const heard = this.#heard(own);
    return {
      until: async ({ ms, endsOn }) => {
        if (own.aborted || (endsOn.includes('rest') && this.#hasRested)) return;
        const over = this.#parts.setup.clock.sleep(this.#jittered(ms), own);
        const ends = [
          over.then(() => {
            this.#last = undefined;
          }),
        ];
        if (endsOn.includes('word')) ends.push(heard);
        if (endsOn.includes('rest')) {
          const rested = new Promise<void>((resolve) => {
            this.#onRested = resolve;
          });
          ends.push(rested);
        }
        await Promise.race(ends).catch(() => undefined);
      },
      end: () => {
        this.#onRested = undefined;
        own.release();
        own.abort(undefined);
      },
    };
  }

  /** Resolves when the store says that something may be claimable; never, when it cannot say or the word is lost. */
  #heard({ signal }: Linked): Promise<void> {
    const { ownership } = this.#parts.setup.store as DurableStore; // An application with durable agents has one.
    const never = new Promise<void>(() => undefined);
    if (ownership.claimable === undefined) return never;
    return ownership.claimable({ agents: this.#options.agents, signal }).catch(() => never);
  }

  /** Workers that were started together do not look together: between three and five quarters of the time. */
  #jittered(ms: number): number {
    const [byte = 0] = this.#parts.setup.ids.bytes(1);
    return ms * (0.75 + (byte / 255) * 0.5);
  }
}
