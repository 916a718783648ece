import { setTimeout as pause } from 'node:timers/promises';
import {
  AgentError,
  type App,
  bind,
  bootstrap,
  type Caller,
  ClockPort,
  isTerminal,
  type RunId,
  systemClock,
} from '@hexagent/agent-core';
import { clerk } from './clerk.ts';
import { clerkModel } from './clerk-model.ts';
import type { Order } from './order.ts';
import { answerQuestions } from './person.ts';
import { pointsOf, say } from './points.ts';
import { readOn } from './reader.ts';
import { watchedStore } from './watched-store.ts';

// main ORDER: one process of a case, which does what its order says, and may be killed at any point of it.
const order: Order = JSON.parse(process.argv[2] ?? '');
const reach = pointsOf(order.stops ?? []);
const { task } = order;
const isOutside = task.kind === 'decide' || task.kind === 'signal';
const { clockShiftMs = 0 } = order;
const app = await bootstrap({
  plugins: [clerkModel(order, reach), watchedStore(order, reach)],
  agents: isOutside ? [] : [clerk(order, reach)],
  leaseMs: order.leaseMs ?? 1_500,
  provide: [bind(ClockPort, { ...systemClock, now: () => systemClock.now() + clockShiftMs })],
});
const caller = app.local('clerk');

switch (task.kind) {
  case 'decide':
    await answered(async () => {
      const { items } = await app.runs.waits({ runId: task.runId, status: 'pending' }, caller);
      await reach('deciding');
      await app.runs.resolve(items[0]?.id ?? ('none' as never), task.answer, caller);
    });
    break;
  case 'signal':
    await answered(async () => {
      await reach('deciding');
      const { signal: kind, text } = task;
      await app.runs.signal(task.runId, { kind, payload: { text } }, caller);
    });
    break;
  default: {
    const input = { message: 'Write 12 euros, then 7 euros.' };
    const start = () => app.runs.start(order.agent, input, { ...caller, requestKey: order.agent });
    const { runId } = await start();
    say({ started: runId });
    await Promise.all([
      worker(app, runId, { caller, untilRest: task.kind === 'work' }),
      ...(task.kind === 'work'
        ? []
        : [
            answerQuestions(app, runId, { caller, order, reach }),
            readOn(app, runId, { caller, order }),
          ]),
    ]);
    say({ ended: (await app.runs.get(runId, caller)).status });
  }
}
await app.close();

/** Does the one thing that this process is for, and says what came of it. */
async function answered(act: () => Promise<void>): Promise<void> {
  try {
    await act();
    say({ answered: 'ok' });
  } catch (error) {
    if (!AgentError.is(error)) throw error;
    say({ answered: error.code });
  }
}

/** Drives what can be driven, until the run is over (or, if that is all, until it rests). */
async function worker(
  app: App,
  runId: RunId,
  { caller, untilRest }: { readonly caller: Caller; readonly untilRest: boolean },
): Promise<void> {
  for (;;) {
    await app.recover(caller);
    const { status } = await app.runs.get(runId, caller);
    if (isTerminal(status) || (untilRest && status === 'interrupted')) return;
    await pause(30);
  }
}
