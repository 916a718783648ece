import { setTimeout as pause } from 'node:timers/promises';
import { type App, bootstrap, isTerminal, type RunId, type Wait } from '@hexagent/agent-core';
import { clerk, clerkModel, type Reach, type Safety } from './clerk.ts';
import { watchedStore } from './watched-store.ts';

/** What one process is to do; given as JSON, its first argument. */
export type ClerkOrder = {
  readonly url: string;
  readonly file: string;
  readonly safety: Safety;
  /** Where it stops and waits to be killed. */
  readonly stopAt?: string;
  /** What a person says to the question whether the effect happened. */
  readonly recovery?: 'happened' | 'did-not-happen';
};

/** What a process says, one JSON object a line. */
export type ClerkSaid =
  | { readonly at: string }
  | { readonly asked: Wait['kind'] }
  | { readonly ended: string; readonly runId: RunId };

/** The least that an application may name: a dead owner is followed soon. */
const LEASE_MS = 1_000;
const POLL_MS = 50;

const order: ClerkOrder = JSON.parse(process.argv[2] ?? '');
const say = (said: ClerkSaid): void => void process.stdout.write(`${JSON.stringify(said)}\n`);
const reach: Reach = (point) => {
  if (point !== order.stopAt) return Promise.resolve();
  say({ at: point });
  return new Promise(() => undefined);
};

const agent = clerk({ ...order, reach });
const app = await bootstrap({
  plugins: [clerkModel(), watchedStore(order.url, reach)],
  agents: [agent],
  leaseMs: LEASE_MS,
});
const caller = { ...app.local('clerk'), requestKey: 'order-17' };
const { runId } = await app.runs.start('clerk', { message: 'Write 12 euros.' }, caller);
await untilEnded(app, runId);
say({ ended: (await app.runs.get(runId, caller)).status, runId });
await app.close();

/** Does what a worker and a person do, until there is nothing left to do. */
async function untilEnded(app: App, runId: RunId): Promise<void> {
  for (;;) {
    await app.recover(caller);
    const { items } = await app.runs.waits({ runId, status: 'pending' }, caller);
    for (const wait of items) {
      say({ asked: wait.kind });
      await reach(`asked ${wait.kind}`);
      await app.runs.resolve(wait.id, answerTo(wait), caller);
    }
    if (isTerminal((await app.runs.get(runId, caller)).status)) return;
    await pause(POLL_MS);
  }
}

function answerTo({ kind }: Wait): Parameters<App['runs']['resolve']>[1] {
  if (kind === 'approval') return { decision: 'approve' };
  if (kind !== 'recovery' || order.recovery === undefined)
    throw new Error(`Nobody expected a ${kind}.`);
  return order.recovery === 'happened'
    ? { decision: 'happened', result: { written: 'by the dead process' } }
    : { decision: 'did-not-happen' };
}
