import type { AgentEvent } from '../events/agent-event.ts';
import type { GuardedStream } from '../guard/value-guard.ts';
import type { ActiveRun } from './active-run.ts';

type Delta = Extract<AgentEvent, { readonly delta: string }>;

/**
 * Shows what a step streams. Once the run has something to hide, text that comes in pieces is masked across
 * them: only what may still become a remembered value is held back, until the next event of another kind.
 */
export class ShownDeltas {
  readonly #run: ActiveRun;
  readonly #stepId: string;
  #current: { readonly last: Delta; readonly stream: GuardedStream } | undefined;

  constructor(run: ActiveRun, stepId: string) {
    this.#run = run;
    this.#stepId = stepId;
  }

  show(event: AgentEvent): void {
    const { guard } = this.#run;
    if (guard === undefined || !('delta' in event)) {
      this.end();
      this.#run.show(this.#stepId, event);
      return;
    }
    if (this.#current !== undefined && !isSameText(this.#current.last, event)) this.end();
    this.#current ??= { last: event, stream: guard.stream() };
    this.#emit(this.#current.last, this.#current.stream.push(event.delta));
  }

  /** What was held back is shown now: the text is over. */
  end(): void {
    if (this.#current === undefined) return;
    const { last, stream } = this.#current;
    this.#current = undefined;
    this.#emit(last, stream.end());
  }

  #emit(like: Delta, delta: string): void {
    if (delta !== '') this.#run.feed.live(this.#stepId, { ...like, delta });
  }
}

function isSameText(left: Delta, right: Delta): boolean {
  if (left.type === 'message-delta') return right.type === left.type;
  if (left.type === 'reasoning-delta') return right.type === left.type;
  return right.type === left.type && right.callId === left.callId;
}
