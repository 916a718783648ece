import type { Rule } from './rule.ts';
import { appending } from './store-contract/appending.ts';
import { claiming } from './store-contract/claiming.ts';
import { committing } from './store-contract/committing.ts';
import { connecting } from './store-contract/connecting.ts';
import { creating } from './store-contract/creating.ts';
import { evidencing } from './store-contract/evidencing.ts';
import { fidelity } from './store-contract/fidelity.ts';
import { heartbeats } from './store-contract/heartbeats.ts';
import { hinting } from './store-contract/hinting.ts';
import { listing } from './store-contract/listing.ts';
import { logging } from './store-contract/logging.ts';
import { reading } from './store-contract/reading.ts';
import { releasing } from './store-contract/releasing.ts';
import { remembering } from './store-contract/remembering.ts';
import { resolving } from './store-contract/resolving.ts';
import type { StoreSubject } from './store-contract/store-subject.ts';
import { superseding } from './store-contract/superseding.ts';
import { valuing } from './store-contract/valuing.ts';

export type { StoreSubject } from './store-contract/store-subject.ts';

/**
 * Every promise of `DurableStore`, as data. A rule passes when its `check` resolves.
 *
 * @example
 * for (const rule of storeContract) test(rule.name, async () => rule.check(await subject()));
 */
export const storeContract: readonly Rule<StoreSubject>[] = [
  ...reading,
  ...creating,
  ...claiming,
  ...heartbeats,
  ...hinting,
  ...committing,
  ...superseding,
  ...releasing,
  ...appending,
  ...resolving,
  ...logging,
  ...remembering,
  ...valuing,
  ...listing,
  ...evidencing,
  ...fidelity,
  ...connecting,
];
