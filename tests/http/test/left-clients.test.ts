import type { Envelope } from '@hexagent/agent-core';
import { afterEach, expect, test } from 'vitest';
import { type Speech, textOf } from '../src/counting-model.ts';
import { countingService, type Service } from '../src/counting-service.ts';
import { eventsOf, watch } from '../src/event-reader.ts';

const speech: Speech = { deltas: 60, paceMs: 10 };

let service: Service | undefined;
afterEach(() => service?.close());

/** Starts a run as a stream, takes a few of its events, and leaves; answers what was seen. */
async function startAndLeave(agent: string, query = ''): Promise<readonly Envelope[]> {
  service = await countingService({ speech });
  const leaving = new AbortController();
  const answer = await fetch(`${service.url}/agents/${agent}/runs${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: '{"message":"count"}',
    signal: leaving.signal,
  });
  const seen: Envelope[] = [];
  for await (const envelope of eventsOf(answer)) {
    seen.push(envelope);
    if (seen.length === 10) break;
  }
  leaving.abort();
  return seen;
}

/** The events behind those that were seen, as another connection is given them. */
async function rest(seen: readonly Envelope[]): Promise<readonly Envelope[]> {
  const last = seen.at(-1);
  if (service === undefined || last === undefined) throw new Error('Nothing was seen.');
  const events: Envelope[] = [];
  for await (const envelope of eventsOf(await watch(service.url, last.runId, last.seq)))
    events.push(envelope);
  return events;
}

const told = (events: readonly Envelope[]): string =>
  events.flatMap(({ event }) => (event.type === 'message-delta' ? [event.delta] : [])).join('');
const endOf = (events: readonly Envelope[]): string | undefined => {
  const last = events.at(-1)?.event;
  return last?.type === 'run-finished' ? last.outcome.kind : undefined;
};

test('C37: a durable run goes on without its client, which comes back with the last id and misses nothing', async () => {
  const seen = await startAndLeave('teller');
  const events = await rest(seen);
  expect(endOf(events)).toBe('completed');
  expect(told([...seen, ...events])).toBe(textOf(speech));
  const ids = [...seen, ...events].map(({ seq }) => seq);
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
});

test('C37: a durable run that was started to end with its client is cancelled, and says so to whoever looks', async () => {
  const seen = await startAndLeave('teller', '?onDisconnect=cancel');
  const events = await rest(seen);
  expect(endOf(events)).toBe('cancelled');
  expect(told([...seen, ...events])).not.toBe(textOf(speech));
});

test('C37: a stateless run ends with its client', async () => {
  await startAndLeave('fleeting');
  await until(async () => /agent="fleeting",outcome="cancelled"\} 1/.test(await metrics()));
});

test('C37: a stateless run that was started to go on does', async () => {
  await startAndLeave('fleeting', '?onDisconnect=detach');
  await until(async () => /agent="fleeting",outcome="completed"\} 1/.test(await metrics()));
});

async function metrics(): Promise<string> {
  return (await fetch(`${service?.url}/metrics`)).text();
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}
