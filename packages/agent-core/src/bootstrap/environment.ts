import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import { definePort, type Port } from '../base/port.ts';

/** Time, for tests that must not sleep: `provide: [bind(ClockPort, fakeClock())]`. Unbound: the platform's. */
export const ClockPort: Port<Clock> = definePort<Clock>('clock');

/** Ids and random bytes, for tests that must repeat. Unbound: the platform's. */
export const IdsPort: Port<IdSource> = definePort<IdSource>('ids');
