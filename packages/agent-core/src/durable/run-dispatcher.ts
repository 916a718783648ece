import type { Stop } from '../base/abort.ts';
import type { Instant } from '../base/clock.ts';
import type { RunId } from '../base/ids.ts';
import { definePort, type Port } from '../base/port.ts';

/**
 * Decides who drives a run and when; it calls `app.drive(rootRunId)`, which claims. It is woken with runs that a process
 * leaves alone: written to and not driven there, given back, or at rest until an instant. A wake is a hint: it may be
 * lost, may come for nothing, and one that rejects changes nothing.
 */
export interface RunDispatcher {
  wake(rootRunId: RunId, options: { readonly at?: Instant } & Stop): Promise<void>;
}

export const RunDispatcher: Port<RunDispatcher> = definePort<RunDispatcher>('run-dispatcher');
