import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Load } from './load.ts';
import type { Reading, Report } from './readers.ts';
import type { Answer, Order, Usage } from './served.ts';

export type ServerName = 'host' | 'raw';

/** What one server did under one load. */
export type Round = {
  /** Deltas that all readers took in a second, until the last reader that is not slow had all. */
  readonly perSecond: number;
  /** Characters that a reader was sent for one of them: a fair comparison sends the same. */
  readonly charactersPerEvent: number;
  /** Microseconds of the server's processor time for one delta at one reader. */
  readonly cpuPerEvent: number;
  /** Bytes that a connected, quiet reader holds in the server: heap and external, and what the process has more in all. */
  readonly heldPerReader: number;
  readonly rssPerReader: number;
  /** Seconds until the last slow reader had all. */
  readonly slowSeconds: number;
  readonly faults: readonly string[];
};

const PROCESSES = 2;

export async function round(name: ServerName, load: Load): Promise<Round> {
  const server = child(`./${name}-server.ts`);
  const ask = async (order: Order): Promise<Answer> => {
    server.send(order);
    return next<Answer>(server);
  };
  const opened = await ask({ kind: 'open', load });
  if (opened.kind !== 'opened') throw new Error(`The server answered ${opened.kind}.`);
  const before = await usageOf(ask);
  const clients = Array.from({ length: PROCESSES }, () => child('./readers.ts'));
  const connected = clients.map((client) => next<Report>(client));
  for (const client of clients)
    client.send({
      urls: opened.urls,
      readers: load.readers / PROCESSES,
      slow: load.slow / PROCESSES,
      events: load.events,
    } satisfies Reading);
  await Promise.all(connected);
  const quiet = await usageOf(ask);
  const reports = clients.map((client) => next<Report>(client));
  const begun = Date.now();
  await ask({ kind: 'go' });
  const read = (await Promise.all(reports)).filter((report) => report.kind === 'read');
  const after = await usageOf(ask);
  await ask({ kind: 'close' });
  const events = read.reduce((sum, report) => sum + report.events, 0);
  const fastShare = (load.readers - load.slow) / load.readers;
  const fastAt = Math.max(...read.map((report) => report.fastAt));
  const slowAt = Math.max(...read.map((report) => report.slowAt));
  return {
    perSecond: (events * fastShare * 1_000) / (fastAt - begun),
    charactersPerEvent: read.reduce((sum, { characters }) => sum + characters, 0) / events,
    cpuPerEvent: (after.cpu - quiet.cpu) / events,
    heldPerReader: (quiet.held - before.held) / load.readers,
    rssPerReader: (quiet.rss - before.rss) / load.readers,
    slowSeconds: load.slow === 0 ? 0 : (slowAt - begun) / 1_000,
    faults: read.flatMap((report) => report.faults),
  };
}

function child(file: string): ChildProcess {
  return fork(new URL(file, import.meta.url), {
    execArgv: ['--expose-gc', '--conditions=development', '--import', 'tsx'],
  });
}

async function next<Message>(from: ChildProcess): Promise<Message> {
  const died = new AbortController();
  const gone = (code: number | null): void =>
    died.abort(new Error(`${from.spawnargs.at(-1)} ended with ${code}.`));
  from.once('exit', gone);
  try {
    const [message] = await once(from, 'message', { signal: died.signal });
    return message;
  } finally {
    from.off('exit', gone);
  }
}

async function usageOf(ask: (order: Order) => Promise<Answer>): Promise<Usage> {
  const answer = await ask({ kind: 'usage' });
  if (answer.kind !== 'usage') throw new Error(`The server answered ${answer.kind}.`);
  return answer.usage;
}
