import { setTimeout as pause } from 'node:timers/promises';
import {
  AgentError,
  bind,
  bootstrap,
  ClockPort,
  isTerminal,
  type RunId,
  systemClock,
} from '@hexagent/agent-core';
import { clerk } from './clerk.ts';
import { clerkModel } from './clerk-model.ts';
import { type Order, REQUEST, type Task } from './order.ts';
import { answerQuestions } from './person.ts';
import { pointsOf, say } from './points.ts';
import { readOn } from './reader.ts';
import { inSurroundings, patiently } from './surroundings.ts';
import { watchedStore } from './watched-store.ts';

// main ORDER: one process of a case, which does what its order says, and may be killed at any point of it.
const order: Order = JSON.parse(process.argv[2] ?? '');
const { task, faults = [] } = order;
const reach = await inSurroundings(order, pointsOf(order.stops ?? []));
const isOutside = task.kind !== 'see-through' && task.kind !== 'work';
const app = await bootstrap({
  plugins: [clerkModel(order, reach), watchedStore(order, reach)],
  agents: isOutside ? [] : [clerk(order, reach)],
  leaseMs: order.leaseMs ?? 1_500,
  // An owner that trusts its clock stops by itself when it was away.
  provide: faults.includes('fences-ignored')
    ? [bind(ClockPort, { ...systemClock, monotonic: () => 0 })]
    : [],
});
const caller = app.local('clerk');
let isTerminated = false;
process.on('SIGTERM', () => {
  isTerminated = true;
  app.close().then(() => {
    say({ ended: 'terminated' });
    process.exit();
  });
});
await carryOut(task).catch((error: unknown) => {
  // What still wanted something of the application was told that it closes.
  if (!isTerminated || !AgentError.is(error) || error.code !== 'APP_CLOSED') throw error;
});
await app.close();

async function carryOut(given: Task): Promise<void> {
  switch (given.kind) {
    case 'decide':
      return answered(async () => {
        const { items } = await app.runs.waits({ runId: given.runId, status: 'pending' }, caller);
        const wait = items[given.index];
        if (wait === undefined) throw new Error('There is no question.');
        await reach('deciding');
        await app.runs.resolve(wait.id, given.answer, caller);
      });
    case 'signal':
      return answered(async () => {
        await reach('deciding');
        const { signal: kind, text } = given;
        await app.runs.signal(given.runId, { kind, payload: { text } }, caller);
      });
    case 'read':
      return readOn(app, given.runId, { caller, order });
    case 'work':
      return work(await started(), true);
    case 'see-through': {
      const runId = await started();
      await Promise.all([
        work(runId, false),
        patiently(() => answerQuestions(app, runId, { caller, order, reach })),
        patiently(() => readOn(app, runId, { caller, order })),
      ]);
      const { status } = await patiently(() => app.runs.get(runId, caller));
      return say({ ended: status });
    }
  }
}

/** Starts the run of the case, or finds it: the key is the case's. */
async function started(): Promise<RunId> {
  const { conversationId } = order;
  const input = {
    message: REQUEST,
    ...(conversationId === undefined ? {} : { conversationId, admission: 'queue' as const }),
  };
  const { runId } = await app.runs.start(order.agent, input, {
    ...caller,
    requestKey: order.agent,
  });
  say({ started: runId });
  return runId;
}

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
async function work(runId: RunId, untilRest: boolean): Promise<void> {
  for (;;) {
    await patiently(() => app.recover(caller));
    const { status } = await patiently(() => app.runs.get(runId, caller));
    if (isTerminal(status) || (untilRest && status === 'interrupted')) return;
    await pause(30);
  }
}
