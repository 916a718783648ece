import assert from 'node:assert/strict';
import type { Interrupt } from '@ag-ui/core';
import { type CheckedClient, faultsIn } from '../checked-client.ts';
import { type Stage, shape, user } from '../stage.ts';
import type { Scenario } from './scenario.ts';

const PAY = { name: 'money.pay', input: { to: 'Ann', amount: 5 } };

/** Runs until the thread waits, and answers with what it waits for. */
export async function interrupted(
  stage: Stage,
  thread: string,
): Promise<{ readonly client: CheckedClient; readonly interrupts: readonly Interrupt[] }> {
  const client = stage.client(thread);
  client.addMessage(user('Go'));
  await client.runAgent();
  const last = (await client.last()).at(-1);
  assert.ok(last?.type === 'RUN_FINISHED');
  assert.equal(last.outcome?.type, 'interrupt');
  return { client, interrupts: client.pendingInterrupts };
}

function resolved(interrupt: Interrupt | undefined, payload: unknown) {
  assert.ok(interrupt !== undefined);
  return { interruptId: interrupt.id, status: 'resolved' as const, payload };
}

async function errorOf(client: CheckedClient): Promise<string | undefined> {
  const last = (await client.last()).at(-1);
  assert.ok(last?.type === 'RUN_ERROR', `it ended with ${last?.type ?? 'nothing'}`);
  return last.code;
}

export const interrupts: readonly Scenario[] = [
  {
    name: 'an approval: the call is not shown again, its result is',
    script: [{ calls: [PAY] }, { text: 'Paid.' }],
    play: async (stage) => {
      const { client, interrupts: open } = await interrupted(stage, 'approve');
      const [interrupt] = open;
      assert.equal(open.length, 1);
      assert.equal(interrupt?.reason, 'tool_call');
      assert.ok(interrupt.responseSchema !== undefined && interrupt.message !== undefined);
      const call = client.messages.find(({ role }) => role === 'assistant');
      assert.ok(call?.role === 'assistant');
      assert.equal(interrupt.toolCallId, call.toolCalls?.[0]?.id);
      assert.deepEqual(stage.world.paid, []);
      await stage.check(client);
      await client.runAgent({ resume: [resolved(interrupt, { approved: true })] });
      const events = await client.last();
      assert.ok(!events.some(({ type }) => type === 'TOOL_CALL_START'));
      const result = events.find((event) => event.type === 'TOOL_CALL_RESULT');
      assert.ok(result?.type === 'TOOL_CALL_RESULT');
      assert.equal(result.toolCallId, interrupt.toolCallId);
      assert.deepEqual(stage.world.paid, [{ to: 'Ann', amount: 5 }]);
      assert.equal(client.messages.at(-1)?.content, 'Paid.');
      assert.deepEqual(client.pendingInterrupts, []);
      await stage.check(client);
    },
  },
  {
    name: 'an approval with edited arguments',
    script: [{ calls: [PAY] }, { text: 'Paid less.' }],
    play: async (stage) => {
      const {
        client,
        interrupts: [interrupt],
      } = await interrupted(stage, 'edit');
      await client.runAgent({
        resume: [
          resolved(interrupt, { approved: true, editedArgs: { to: 'Ann', amount: 'much' } }),
        ],
      });
      assert.equal(await errorOf(client), 'INPUT_INVALID');
      assert.deepEqual(stage.world.paid, []);
      await client.runAgent({
        resume: [resolved(interrupt, { approved: true, editedArgs: { to: 'Bob', amount: 1 } })],
      });
      assert.deepEqual(stage.world.paid, [{ to: 'Bob', amount: 1 }]);
      await stage.check(client);
    },
  },
  {
    name: 'C18: a denial is a result that the model reads, also beside a call that was approved',
    script: [
      { calls: [PAY, { name: 'money.pay', input: { to: 'Eve', amount: 9 } }] },
      {
        text: 'Only Ann.',
        expect: ({ messages }) => {
          assert.match(JSON.stringify(messages), /not to Eve/);
        },
      },
    ],
    play: async (stage) => {
      const { client, interrupts: open } = await interrupted(stage, 'deny');
      assert.equal(open.length, 2);
      await client.runAgent({
        resume: [
          resolved(open[1], { approved: false, comment: 'not to Eve' }),
          resolved(open[0], { approved: true }),
        ],
      });
      const events = await client.last();
      assert.equal(events.filter(({ type }) => type === 'TOOL_CALL_RESULT').length, 2);
      assert.deepEqual(stage.world.paid, [{ to: 'Ann', amount: 5 }]);
      assert.equal(client.messages.at(-1)?.content, 'Only Ann.');
      await stage.check(client);
    },
  },
  {
    name: 'C18: an approval counts, also when a message follows it',
    script: [{ calls: [PAY] }, { text: 'Paid.' }],
    play: async (stage) => {
      const {
        client,
        interrupts: [interrupt],
      } = await interrupted(stage, 'late-message');
      client.addMessage(user('and hurry'));
      await client.runAgent({ resume: [resolved(interrupt, { approved: true })] });
      assert.deepEqual(stage.world.paid, [{ to: 'Ann', amount: 5 }]);
      assert.equal((await client.last()).at(-1)?.type, 'RUN_FINISHED');
    },
  },
  {
    name: 'two interrupts at once: nothing is answered until all are',
    script: [{ calls: [PAY, { name: 'user.colour', input: {} }] }, { text: 'Done.' }],
    play: async (stage) => {
      const { client, interrupts: open } = await interrupted(stage, 'two');
      assert.deepEqual(open.map(({ reason }) => reason).sort(), ['input_required', 'tool_call']);
      const colour = open.find(({ reason }) => reason === 'input_required');
      const pay = open.find(({ reason }) => reason === 'tool_call');
      assert.equal(colour?.message, 'Which colour?');
      assert.deepEqual(colour.responseSchema?.['required'], ['colour']);
      // The client itself refuses to leave one out; another one would not.
      const careless = stage.client('two', { messages: client.messages });
      await careless.runAgent({ resume: [resolved(pay, { approved: true })] });
      assert.equal(await errorOf(careless), 'INPUT_INVALID');
      assert.deepEqual(stage.world.paid, []);
      await client.runAgent({
        resume: [resolved(pay, { approved: true }), resolved(colour, { shade: 'red' })],
      });
      assert.equal(await errorOf(client), 'INPUT_INVALID');
      assert.deepEqual(stage.world.paid, []);
      await client.runAgent({
        resume: [resolved(pay, { approved: true }), resolved(colour, { colour: 'red' })],
      });
      assert.deepEqual(stage.world.paid, [{ to: 'Ann', amount: 5 }]);
      assert.equal(client.messages.at(-1)?.content, 'Done.');
      await stage.check(client);
    },
  },
  {
    name: 'C12: the same answers again have no second effect and give the same stream',
    script: [{ calls: [PAY] }, { text: 'Paid.' }, { text: 'Later.' }],
    play: async (stage) => {
      const {
        client,
        interrupts: [interrupt],
      } = await interrupted(stage, 'again');
      const before = client.messages;
      const resume = [resolved(interrupt, { approved: true })];
      await client.runAgent({ runId: 'second', resume });
      const first = await client.last();
      const twin = stage.client('again', { messages: before });
      await twin.runAgent({ runId: 'second', resume });
      assert.deepEqual(await twin.last(), first);
      // With what the first stream has brought: it is taken back before it comes again.
      const full = stage.client('again', { messages: client.messages });
      await full.runAgent({ runId: 'second', resume });
      await stage.check(full);
      const contrary = stage.client('again', { messages: before });
      await contrary.runAgent({ resume: [resolved(interrupt, { approved: false })] });
      assert.equal(await errorOf(contrary), 'WAIT_ALREADY_RESOLVED');
      assert.deepEqual(stage.world.paid, [{ to: 'Ann', amount: 5 }]);
      // A later turn that carries the whole history along carries no approval.
      client.addMessage(user('And now?'));
      await client.runAgent();
      assert.equal(client.messages.at(-1)?.content, 'Later.');
      assert.deepEqual(stage.world.paid, [{ to: 'Ann', amount: 5 }]);
      await stage.check(client);
    },
  },
  {
    name: 'answers to what nobody asks, or another thread asks, are refused in the stream',
    script: [{ calls: [PAY] }],
    play: async (stage) => {
      const {
        interrupts: [interrupt],
      } = await interrupted(stage, 'mine');
      const stranger = stage.client('other');
      await stranger.runAgent({ resume: [resolved(interrupt, { approved: true })] });
      assert.equal(await errorOf(stranger), 'WAIT_NOT_FOUND');
      const guess = stage.client('mine');
      await guess.runAgent({
        resume: [{ interruptId: 'r0.1.0.w1', status: 'resolved', payload: { approved: true } }],
      });
      assert.equal(await errorOf(guess), 'WAIT_NOT_FOUND');
      const silent = stage.client('mine');
      silent.addMessage(user('Never mind'));
      await silent.runAgent();
      assert.equal(await errorOf(silent), 'INPUT_INVALID');
      assert.deepEqual(stage.world.paid, []);
      assert.deepEqual(await faultsIn(await stranger.last()), []);
    },
  },
  {
    name: 'who gives an interrupt up gives up its run; the thread goes on',
    script: [{ calls: [PAY, PAY] }, { text: 'Something else.' }],
    play: async (stage) => {
      const { client, interrupts: open } = await interrupted(stage, 'give-up');
      await client.runAgent({
        resume: [
          resolved(open[0], { approved: true }),
          { interruptId: open[1]?.id ?? '', status: 'cancelled' },
        ],
      });
      const last = (await client.last()).at(-1);
      assert.ok(last?.type === 'RUN_FINISHED');
      assert.deepEqual(last.outcome, { type: 'cancelled' });
      assert.deepEqual(stage.world.paid, []);
      await stage.check(client);
      client.addMessage(user('Something else'));
      await client.runAgent();
      assert.equal(client.messages.at(-1)?.content, 'Something else.');
      await stage.check(client);
    },
  },
  {
    name: 'a sign-in, with its address',
    script: [{ calls: [{ name: 'user.sign-in', input: {} }] }, { text: 'Welcome.' }],
    play: async (stage) => {
      const {
        client,
        interrupts: [interrupt],
      } = await interrupted(stage, 'sign-in');
      assert.equal(interrupt?.reason, 'hexagent:auth');
      assert.match(JSON.stringify(interrupt.metadata), /https:\/\/login\.example\/start/);
      await client.runAgent({ resume: [resolved(interrupt, { done: true })] });
      assert.equal(client.messages.at(-1)?.content, 'Welcome.');
      await stage.check(client);
    },
  },
  {
    name: 'an event is not for the client to answer: it may only look again',
    script: [{ calls: [{ name: 'parcel.wait', input: {} }] }, { text: 'It is here.' }],
    play: async (stage) => {
      const {
        client,
        interrupts: [interrupt],
      } = await interrupted(stage, 'event');
      assert.equal(interrupt?.reason, 'hexagent:event');
      await client.runAgent({ resume: [resolved(interrupt, 'it is here, really')] });
      assert.deepEqual(shape(await client.last()), ['RUN_STARTED', 'RUN_FINISHED']);
      assert.equal(client.pendingInterrupts[0]?.id, interrupt.id);
      const operator = stage.app.local('operator', { tenantId: 'acme' });
      const [wait] = (await stage.app.runs.waits({ status: 'pending' }, operator)).items;
      assert.ok(wait !== undefined);
      await stage.app.runs.signal(
        wait.runId,
        { kind: 'external-event', payload: { name: 'parcel', value: 'box' } },
        operator,
      );
      await client.runAgent({ resume: [resolved(interrupt, null)] });
      assert.equal(client.messages.at(-1)?.content, 'It is here.');
      await stage.check(client);
    },
  },
  {
    name: 'the body of a loop of its own asks, and goes on in the next request',
    script: [],
    play: async (stage) => {
      const client = stage.client('teller', { agent: 'teller' });
      client.addMessage(user('Count'));
      await client.runAgent();
      const [interrupt] = client.pendingInterrupts;
      assert.equal(interrupt?.reason, 'confirmation');
      await client.runAgent({ resume: [resolved(interrupt, { approved: true })] });
      const last = (await client.last()).at(-1);
      assert.equal(last?.type, 'RUN_FINISHED');
      assert.deepEqual(stage.world.paid, [{ to: 'Ann', amount: 5 }]);
      assert.deepEqual(
        client.messages.flatMap(({ role, content }) =>
          role === 'assistant' ? (content ?? []) : [],
        ),
        ['Counting.', ' Counted.'],
      );
    },
  },
];
