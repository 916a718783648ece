import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kyselyStore } from '@hexagent/agent-kysely';
import { newWorld } from '../agents.ts';
import { faultsIn } from '../checked-client.ts';
import { type HostKind, openStage, user } from '../stage.ts';

/** A thread that waits outlives its process: another one, over the same file, takes the answer and goes on. */
export async function resumeAfterRestart(host: HostKind): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'hexagent-ag-ui-'));
  const store = () => kyselyStore({ url: `file:${join(folder, 'runs.db')}` });
  const world = newWorld();
  try {
    const pay = { name: 'money.pay', input: { to: 'Ann', amount: 5 } };
    const first = await openStage({
      script: [{ text: 'I pay.', calls: [pay] }],
      host,
      store: store(),
      world,
    });
    const client = first.client('restart');
    client.addMessage(user('Pay'));
    await client.runAgent();
    await first.check(client);
    const [interrupt] = client.pendingInterrupts;
    assert.ok(interrupt !== undefined);
    await first.close();
    const second = await openStage({ script: [{ text: 'Paid.' }], host, store: store(), world });
    try {
      const { messages, interrupts, run } = await second.thread('restart');
      assert.deepEqual(
        interrupts.map(({ id }) => id),
        [interrupt.id],
      );
      assert.equal(run.status, 'interrupted');
      const reloaded = second.client('restart', { messages });
      reloaded.pendingInterrupts = [interrupt];
      await reloaded.runAgent({
        resume: [{ interruptId: interrupt.id, status: 'resolved', payload: { approved: true } }],
      });
      assert.equal(reloaded.messages.at(-1)?.content, 'Paid.');
      assert.deepEqual(world.paid, [{ to: 'Ann', amount: 5 }]);
      await second.check(reloaded);
      // Everything again, from the log of two processes, for a client that has none of it.
      const fresh = second.client('restart', { messages: messages.slice(0, 1) });
      await fresh.runAgent({ runId: run.runId });
      assert.deepEqual(await faultsIn(await fresh.last()), []);
      // What was answered is not asked again.
      assert.deepEqual(fresh.pendingInterrupts, []);
      await second.check(fresh);
    } finally {
      await second.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
