import type { Principal } from '../vocabulary/scope.ts';

/** Who asks, and until when. `requestKey` is the client's own id of a start: unique per tenant. */
export type Caller = {
  readonly principal: Principal;
  readonly signal: AbortSignal;
  readonly requestKey?: string;
};
