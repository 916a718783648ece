import { afterEach, expect, test, vi } from 'vitest';
import { HOSTS, openStage, type Stage, user } from '../src/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const LOOK = { calls: [{ name: 'slow.look', input: {} }] };
const PAY = { calls: [{ name: 'money.pay', input: { to: 'Ann', amount: 5 } }] };

test.each(HOSTS)(
  'the stop button of a client ends a durable run, where it is said, behind %s',
  async (host) => {
    stage = await openStage({ script: [LOOK], host, onDisconnect: 'cancel' });
    const client = stage.client('stop');
    client.addMessage(user('Look'));
    const running = client.runAgent({ runId: 'one' });
    await stage.world.slow.promise;
    client.abortRun();
    await running;
    await stage.world.stopped.promise;
    const { thread } = stage;
    await vi.waitFor(async () => expect((await thread('stop')).run.status).toBe('cancelled'));
  },
);

test('who answers and leaves ends the run, too; who only looks on does not', async () => {
  stage = await openStage({
    script: [PAY, LOOK, { text: 'Seen.' }],
    host: 'fastify',
    onDisconnect: 'cancel',
  });
  const client = stage.client('look-on');
  client.addMessage(user('Pay'));
  await client.runAgent({ runId: 'one' });
  const [interrupt] = client.pendingInterrupts;
  // A stream that has ended at a question has no client any more, and its run waits.
  expect((await stage.thread('look-on')).run.status).toBe('interrupted');
  const resume = [
    { interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload: { approved: true } },
  ];
  const running = client.runAgent({ runId: 'two', resume });
  await stage.world.slow.promise;
  const other = stage.client('look-on', { messages: client.messages });
  const looking = other.runAgent(
    { runId: 'one' },
    {
      onToolCallEndEvent: ({ event }) =>
        void (event.toolCallId.endsWith('.2.0') && other.abortRun()),
    },
  );
  await looking;
  expect((await stage.thread('look-on')).run.status).toBe('active');
  client.abortRun();
  await running;
  await stage.world.stopped.promise;
});

test('a run that is kept nowhere goes on without its client, where it is said', async () => {
  stage = await openStage({
    script: [LOOK, { text: 'Seen.' }],
    host: 'fastify',
    onDisconnect: 'detach',
  });
  const client = stage.client('detached', { agent: 'chat' });
  client.addMessage(user('Look'));
  const running = client.runAgent();
  await stage.world.slow.promise;
  client.abortRun();
  await running;
  stage.world.go.resolve();
  const { model } = stage;
  await vi.waitFor(() => expect(model.requests).toHaveLength(2));
});
