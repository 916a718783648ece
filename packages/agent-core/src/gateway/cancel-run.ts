import { runCancelled } from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import { headFor, statelessFor } from './access.ts';
import type { Caller } from './caller.ts';
import type { GatewayParts } from './drive.ts';
import { append } from './wake.ts';

/** Asks a run to stop. A second request while the first is carried out changes nothing. */
export async function cancelRun(
  parts: GatewayParts,
  {
    runId,
    reason,
    caller,
  }: { readonly runId: RunId; readonly reason: string | undefined; readonly caller: Caller },
): Promise<void> {
  const stateless = statelessFor(parts, runId, caller);
  const payload = {
    ...(reason === undefined ? {} : { reason }),
    requestedBy: caller.principal.subject,
  };
  if (stateless !== undefined) {
    stateless.cancelRequest ??= payload;
    stateless.abort.abort(runCancelled(runId));
    return;
  }
  const { run, store } = await headFor(parts, runId, caller);
  await append(
    parts,
    { store, run, signal: caller.signal },
    { kind: 'cancel', payload, dedupeKey: 'gateway:cancel' },
  );
}
