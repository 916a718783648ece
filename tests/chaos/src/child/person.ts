import { setTimeout as pause } from 'node:timers/promises';
import {
  AgentError,
  type App,
  type Caller,
  isTerminal,
  type RunId,
  type Wait,
} from '@hexagent/agent-core';
import { ENTRIES, type Order, resultOf } from './order.ts';
import { type Reach, say } from './points.ts';
import { effectsIn } from './receiver.ts';

const LATE: readonly string[] = ['WAIT_ALREADY_RESOLVED', 'WAIT_EXPIRED'];

type Resolution = Parameters<App['runs']['resolve']>[1];

/** Answers every question about the run, truthfully, until the run is over. */
export async function answerQuestions(
  app: App,
  runId: RunId,
  {
    caller,
    order,
    reach,
  }: { readonly caller: Caller; readonly order: Order; readonly reach: Reach },
): Promise<void> {
  while (!isTerminal((await app.runs.get(runId, caller)).status)) {
    const { items } = await app.runs.waits({ runId, status: 'pending' }, caller);
    for (const wait of items) {
      say({ asked: wait.kind, about: wait.callId ?? 'the run' });
      await reach(`asked ${wait.kind}`);
      await answer(app, wait, { caller, order });
    }
    await pause(30);
  }
}

async function answer(
  app: App,
  wait: Wait,
  { caller, order }: { readonly caller: Caller; readonly order: Order },
): Promise<void> {
  try {
    await app.runs.resolve(wait.id, truthAbout(wait, order), caller);
  } catch (error) {
    // Somebody was faster, or time was.
    const isLate = AgentError.is(error) && LATE.includes(error.code);
    if (!isLate) throw error;
  }
}

/** Whether an effect happened is looked up where it would have arrived. */
function truthAbout({ kind, callId, prompt, allowed }: Wait, order: Order): Resolution {
  if (kind === 'approval' || allowed.includes('approve')) return { decision: 'approve' };
  if (kind !== 'recovery') throw new Error(`Nobody expected a question of kind ${kind}.`);
  const happened = effectsIn(order.folder, order).some((effect) => effect.callId === callId);
  if (!happened) return { decision: 'did-not-happen' };
  const entry = ENTRIES.find((each) => JSON.stringify(prompt['arguments']).includes(each)) ?? '';
  return { decision: 'happened', result: resultOf(entry, order.script) };
}
