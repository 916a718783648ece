import { defineAgent } from '@hexagent/agent-core';
import { afterEach, expect, test } from 'vitest';
import { eventsOf, payTool, type Served, said, served } from './kit.ts';

let open: Served | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

/** Calls of one answer, and how often a model asks for so many: more waits than are read at once. */
const CALLS = 40;
const ROUNDS = 13;

const paid: unknown[] = [];
const pay = payTool((input) => {
  paid.push(input);
  return 'paid';
});
const payer = defineAgent({
  name: 'payer',
  recovery: 'action-boundary',
  limits: { maxSteps: ROUNDS + 1, maxToolCalls: ROUNDS * CALLS },
  tools: [pay],
});

test('of many hundred questions the first and the last are known when their answers come again', async () => {
  const calls = Array.from({ length: CALLS }, () => ({ name: 'pay', input: {} }));
  const script = Array.from({ length: ROUNDS }, () => ({ calls }));
  open = await served([...script, { text: 'All paid.' }], { agents: [payer] });
  const { send } = open;
  const endOf = async (input: object) => {
    const response = await send('POST', '/payer', { threadId: 't', messages: [], ...input });
    return eventsOf(await response.text()).at(-1);
  };
  const answers: object[] = [];
  let end = await endOf({ runId: 'start', messages: [said('u')] });
  while (end?.type === 'RUN_FINISHED' && end.outcome?.type === 'interrupt') {
    const resume = end.outcome.interrupts.map(({ id }) => ({
      interruptId: id,
      status: 'resolved',
      payload: { approved: true },
    }));
    expect(resume).toHaveLength(CALLS);
    const answer = { runId: `answer-${answers.length}`, resume };
    answers.push(answer);
    end = await endOf(answer);
  }
  expect(answers).toHaveLength(ROUNDS);
  expect(paid).toHaveLength(ROUNDS * CALLS);
  const success = { type: 'RUN_FINISHED', outcome: { type: 'success' } };
  expect(end).toMatchObject(success);
  // Nothing is open any more: each of them is found in the list of all waits, or nowhere.
  for (const answer of [answers.at(0), answers.at(-1)])
    expect(await endOf({ ...answer })).toMatchObject(success);
  expect(paid).toHaveLength(ROUNDS * CALLS);
});
