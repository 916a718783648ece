import type { Stop } from '../base/abort.ts';
import { untilAborted } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { appClosed } from '../base/error-catalog.ts';
import type { RunGateway } from '../gateway/run-gateway.ts';
import { pluginFailure } from './plugin-failure.ts';

/** How long one closing step may take. */
const CLOSE_MS = 10_000;

type Starting = (gateway: RunGateway, stop: Stop) => Promise<void>;
type Closing = (stop: Stop) => Promise<void>;
type ClosingStep = { readonly name: string; readonly step: Closing; readonly afterMs: number };

/** What wants to be started and closed, in order and in reverse. */
export class Lifecycle {
  readonly #clock: Clock;
  readonly #starts: { readonly name: string; readonly step: Starting }[] = [];
  readonly #closes: ClosingStep[] = [];
  #closed: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  onStart(name: string, step: Starting): void {
    this.#starts.push({ name, step });
  }

  /** `afterMs`: time that the step takes by itself, before it is too long. */
  onClose(name: string, step: Closing, { afterMs = 0 }: { readonly afterMs?: number } = {}): void {
    this.#closes.push({ name, step, afterMs });
  }

  async start(gateway: RunGateway, signal: AbortSignal): Promise<void> {
    for (const { name, step } of this.#starts) {
      try {
        await step(gateway, { signal });
      } catch (error) {
        throw pluginFailure(name, error);
      }
    }
  }

  /**
   * First what takes work in (whatever was started), then the runs, then what they stand on: each in reverse order and
   * bounded; a step that fails does not keep the others from closing.
   */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    const started = new Set(this.#starts.map(({ name }) => name));
    const hosts = this.#closes.filter(({ name }) => started.has(name)).reverse();
    const others = this.#closes.filter(({ name }) => !started.has(name)).reverse();
    for (const { step, afterMs } of [...hosts, ...others]) {
      const limit = new AbortController();
      const timer = new AbortController();
      this.#clock.sleep(afterMs + CLOSE_MS, { signal: timer.signal }).then(
        () => limit.abort(appClosed()),
        () => undefined,
      );
      try {
        await untilAborted(step({ signal: limit.signal }), limit.signal);
      } catch {
        // Closing goes on: what could not be closed in time ends with the process.
      } finally {
        timer.abort();
      }
    }
  }
}
