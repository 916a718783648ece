import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { RunId } from '@hexagent/agent-core';
import type { Order, Said } from '../child/order.ts';

/** A process of its own that works on an order. */
export type Child = {
  readonly said: readonly Said[];
  /** Resolves when it has said that it is there; rejects when it ends without. */
  reaches(point: string): Promise<void>;
  /** Resolves with the run that it has started or joined. */
  readonly runId: Promise<RunId>;
  /** Lets it go on from where it is held. */
  goOn(): void;
  thaw(): void;
  /** Asks it to end, as whoever deploys a new version does. */
  terminate(): void;
  /** Resolves when it has ended by itself; rejects with what it complained of. */
  ended(): Promise<readonly Said[]>;
  /** Resolves when it was killed at the point where it should be, and nowhere else. */
  killed(): Promise<void>;
  kill(): void;
};

export function startChild(program: string, order: Order): Child {
  const process_ = spawn(
    process.execPath,
    ['--enable-source-maps', program, JSON.stringify(order)],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  const said: Said[] = [];
  const listeners = new Set<() => void>();
  const complaints = listen(process_, (line) => {
    said.push(line);
    for (const listener of listeners) listener();
  });
  const closed = once(process_, 'close').then(() => {
    for (const listener of listeners) listener();
  });
  let isClosed = false;
  closed.then(() => {
    isClosed = true;
  });
  const how = (): string =>
    `${process_.signalCode ?? `exit ${process_.exitCode}`} ${complaints()}, having said ${JSON.stringify(said)}`;
  const until = <T>(find: () => T | undefined, what: string): Promise<T> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = find();
        if (found === undefined && process_.exitCode === null && process_.signalCode === null)
          return;
        if (found === undefined && !isClosed) return;
        listeners.delete(look);
        if (found === undefined) reject(new Error(`It ended before ${what}: ${how()}`));
        else resolve(found);
      };
      listeners.add(look);
      closed.then(look);
      look();
    });
  return {
    said,
    reaches: (point) =>
      until(
        () => (said.some((line) => 'at' in line && line.at === point) ? true : undefined),
        `it came to "${point}"`,
      ).then(() => undefined),
    get runId() {
      return until(() => {
        const line = said.find((each) => 'started' in each);
        return line !== undefined && 'started' in line ? line.started : undefined;
      }, 'it had a run');
    },
    goOn: () => void process_.stdin?.write('go on\n'),
    thaw: () => void process_.kill('SIGCONT'),
    terminate: () => void process_.kill('SIGTERM'),
    ended: async () => {
      await closed;
      if (process_.exitCode !== 0) throw new Error(`A process failed: ${how()}`);
      return said;
    },
    killed: async () => {
      await closed;
      const isThere = order.stops?.some(
        ({ at, how: stop }) =>
          stop === 'kill' && said.some((line) => 'at' in line && line.at === at),
      );
      if (process_.signalCode !== 'SIGKILL' || isThere !== true)
        throw new Error(`It was not killed at ${JSON.stringify(order.stops)}: ${how()}`);
    },
    kill: () => void process_.kill('SIGKILL'),
  };
}

/** Line by line, as it says it; answers what it complained of. */
function listen(child: ChildProcess, take: (said: Said) => void): () => string {
  let complaints = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    complaints += text;
  });
  // A process that was killed reads nothing more.
  child.stdin?.on('error', () => undefined);
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on('line', (line) => take(JSON.parse(line)));
  return () => complaints.trim();
}
