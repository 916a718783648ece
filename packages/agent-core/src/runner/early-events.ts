import type { JsonObject } from '../base/json.ts';
import type { ValueWrite } from '../durable/value-store.ts';
import type { RunSignal } from '../vocabulary/signal.ts';
import type { ActiveRun } from './active-run.ts';
import { keep, opened } from './keeping.ts';
import type { EarlyEvent } from './run-facts.ts';

/** Where events lie that came before their wait. */
const NAMESPACE = 'hexagent/events';
const PAGE = 100;
/** Keys are sorted as texts: the number of a signal has this many digits. */
const DIGITS = 12;

/** Keeps an event for the next wait of its name, in the commit that takes its signal off the inbox. */
export async function keepEvent(run: ActiveRun, signal: RunSignal): Promise<void> {
  const { runId, setup } = run;
  const key = `${runId}/${String(signal.seq).padStart(DIGITS, '0')}`;
  const place = { namespace: NAMESPACE, tenantId: run.facts.principal.scope.tenantId, key };
  const value = await keep(signal as unknown as JsonObject, {
    sealer: setup.sealer,
    boundTo: `${NAMESPACE}/${key}`,
  });
  run.early = [...run.early, { place, signal }];
  run.counters.earlyEvents = run.early.length;
  run.journal?.value({ ...place, value });
}

/** The event has been handed over: the next commit forgets it. */
export function forgetEvent(run: ActiveRun, event: EarlyEvent): void {
  run.early = run.early.filter((other) => other !== event);
  run.counters.earlyEvents = run.early.length;
  run.journal?.value(event.place);
}

/** Brings the events that an owner before has kept into memory. Its row says whether there are any. */
export async function loadEvents(run: ActiveRun): Promise<void> {
  const { store, sealer } = run.setup;
  if (store === undefined || run.counters.earlyEvents === 0) return;
  const { tenantId } = run.facts.principal.scope;
  const stop = { signal: run.storage.signal };
  const query = { namespace: NAMESPACE, tenantId, prefix: `${run.runId}/`, limit: PAGE };
  const events: EarlyEvent[] = [];
  for (let after: string | undefined; ; ) {
    const page = await store.values.list({
      ...query,
      ...(after === undefined ? {} : { after }),
      ...stop,
    });
    for (const { key, value } of page.items) {
      const boundTo = `${NAMESPACE}/${key}`;
      const signal = (await opened(value, { sealer, boundTo })) as unknown as RunSignal;
      events.push({ place: { namespace: NAMESPACE, tenantId, key }, signal });
    }
    after = page.next;
    if (after === undefined) break;
  }
  run.early = events;
}

/** Nobody waits for them any more: part of the commit that ends the run. */
export function voidedEvents(run: ActiveRun): { readonly values?: readonly ValueWrite[] } {
  return run.early.length === 0 ? {} : { values: run.early.map(({ place }) => place) };
}
