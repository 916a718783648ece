import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Envelope } from '@hexagent/agent-core';
import { type TestPostgres, testPostgres } from '@hexagent/test-postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Speech, textOf } from '../src/counting-model.ts';
import { type CountingProcess, countingProcess } from '../src/counting-process.ts';
import { eventsOf, standing, watch } from '../src/event-reader.ts';

const speech: Speech = { deltas: 150, paceMs: 10 };
/** A reader that was there before the server died, and how many deltas it waits for. */
const SEEN_BEFORE = 40;

let folder: string;
let postgres: TestPostgres;
const services: CountingProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hexagent-http-'));
  postgres = await testPostgres();
});
afterAll(async () => {
  for (const service of services) await service.kill();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

const serve = async (store: string, lines: string): Promise<CountingProcess> => {
  const service = await countingProcess({ store, lines, speech, leaseMs: 1_500 });
  services.push(service);
  return service;
};
const start = (url: string, agent: string, message: string): Promise<Response> =>
  fetch(`${url}/agents/${agent}/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ message }),
  });
const textIn = (seen: readonly Envelope[]): string =>
  standing(seen)
    .flatMap(({ event }) => (event.type === 'message-delta' ? [event.delta] : []))
    .join('');
/** Neighbouring deltas are stored as one, with the time of the last. */
const timeless = ({ at: _at, ...envelope }: Envelope) => envelope;

const stores: Readonly<Record<string, () => Promise<string>>> = {
  SQLite: async () => `file:${join(folder, 'runs.db')}`,
  PostgreSQL: async () => (await postgres.database('killed')).url,
};

test.each(Object.keys(stores))(
  'a reader whose server was killed goes on at another one, and sees every event that is not rewound once, as what its tool does is done once (%s)',
  { timeout: 120_000 },
  async (name) => {
    const store = await (stores[name] as () => Promise<string>)();
    const lines = join(folder, `${name}.txt`);
    const first = await serve(store, lines);
    const started = await start(first.url, 'keeper', 'append');
    const seen: Envelope[] = [];
    let killed: Promise<void> | undefined;
    for await (const envelope of eventsOf(started)) {
      seen.push(envelope);
      const deltas = seen.filter(({ event }) => event.type === 'message-delta').length;
      if (deltas === SEEN_BEFORE) killed ??= first.kill();
    }
    await killed;
    const before = seen.length;
    const last = seen.at(-1);
    if (last === undefined) throw new Error('Nothing was seen.');
    expect(last.event.type).not.toBe('run-finished');

    const second = await serve(store, lines);
    const { runId } = last;
    for await (const envelope of eventsOf(await watch(second.url, runId, last.seq)))
      seen.push(envelope);
    expect(seen.length).toBeGreaterThan(before);
    expect(seen.at(-1)?.event.type).toBe('run-finished');
    const seqs = seen.map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
    expect(seen.some(({ event }) => event.type === 'rewound')).toBe(true);

    const log: Envelope[] = [];
    for await (const envelope of eventsOf(await watch(second.url, runId))) log.push(envelope);
    expect(standing(seen).map(timeless)).toEqual(standing(log).map(timeless));
    expect(textIn(seen)).toBe(textOf(speech));
    expect((await watch(second.url, runId, seqs.at(-1))).status).toBe(204);
    expect(readFileSync(lines, 'utf8')).toBe('a line\n');
    await second.close();
  },
);

test('a server that is told to close gives its run back: another one goes on at once, long before a lease is over', {
  timeout: 120_000,
}, async () => {
  const store = `file:${join(folder, 'given-back.db')}`;
  const speechOf = { store, speech, leaseMs: 60_000 };
  const first = await countingProcess(speechOf);
  services.push(first);
  const started = await start(first.url, 'teller', 'count');
  const seen: Envelope[] = [];
  let closed: Promise<void> | undefined;
  for await (const envelope of eventsOf(started)) {
    seen.push(envelope);
    if (seen.length === SEEN_BEFORE) closed ??= first.close();
  }
  await closed;
  const last = seen.at(-1);
  const second = await countingProcess(speechOf);
  services.push(second);
  const { runId = '', seq } = last ?? {};
  for await (const envelope of eventsOf(await watch(second.url, runId, seq))) seen.push(envelope);
  expect(textIn(seen)).toBe(textOf(speech));
  await second.close();
});

test('a server without a worker leaves the run of a killed one alone: its readers see it go on when somebody else works', {
  timeout: 120_000,
}, async () => {
  const store = `file:${join(folder, 'left.db')}`;
  const leaseMs = 1_500;
  const first = await countingProcess({ store, speech, leaseMs });
  services.push(first);
  const seen: Envelope[] = [];
  let killed: Promise<void> | undefined;
  for await (const envelope of eventsOf(await start(first.url, 'teller', 'count'))) {
    seen.push(envelope);
    if (seen.length === SEEN_BEFORE) killed ??= first.kill();
  }
  await killed;

  // What is said shows who has driven it.
  const other: Speech = { ...speech, characters: 9 };
  const second = await countingProcess({ store, speech: other, leaseMs, host: { worker: false } });
  services.push(second);
  const { runId = '', seq } = seen.at(-1) ?? {};
  const reading = (async () => {
    for await (const envelope of eventsOf(await watch(second.url, runId, seq))) seen.push(envelope);
  })();
  // Long enough for a worker, which would have looked when the lease was over.
  await new Promise((resolve) => setTimeout(resolve, 3 * leaseMs));
  expect(seen.at(-1)?.seq).toBe(seq);
  const third = await countingProcess({ store, speech, leaseMs });
  services.push(third);
  await reading;
  expect(seen.at(-1)?.event.type).toBe('run-finished');
  expect(textIn(seen)).toBe(textOf(speech));
  await second.close();
  await third.close();
});
