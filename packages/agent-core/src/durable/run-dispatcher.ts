import type { Stop } from '../base/abort.ts';
import type { Instant } from '../base/clock.ts';
import type { RunId } from '../base/ids.ts';
import { definePort, type Port } from '../base/port.ts';

/** Decides who drives a run and when; it calls `app.drive(rootRunId)`, which claims. A wake is a hint. */
export interface RunDispatcher {
  wake(rootRunId: RunId, options: { readonly at?: Instant } & Stop): Promise<void>;
}

export const RunDispatcher: Port<RunDispatcher> = definePort<RunDispatcher>('run-dispatcher');
