import { AgentError, defineAgent, textOf } from '@hexagent/agent-core';
import type { ScriptStep } from '@hexagent/agent-core/testing';
import { afterEach, expect, test } from 'vitest';
import { ALICE, eventsOf, payTool, type Served, said, served } from './kit.ts';

let open: Served | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const pay = payTool();
const listener = defineAgent({
  name: 'listener',
  recovery: 'action-boundary',
  accepts: ['user-message'],
  tools: [pay],
});

async function listening(script: readonly ScriptStep[]): Promise<void> {
  open = await served(script, { agents: [listener] });
}

function at(): Served {
  if (open === undefined) throw new Error('Nothing is served.');
  return open;
}

async function post(input: object): Promise<string> {
  const body = { threadId: 't', messages: [], ...input };
  return (await at().send('POST', '/listener', body)).text();
}

type End = {
  readonly outcome: { readonly type: string; readonly interrupts: readonly { id: string }[] };
};
const endOf = (text: string): End => eventsOf(text).at(-1) as unknown as End;

const ASKS: ScriptStep = { calls: [{ name: 'pay', input: {} }] };
const FAILS: ScriptStep = {
  error: new AgentError('MODEL_FAILED', { message: 'down', mend: 'look' }),
};
const CALL = (id: string) => ({
  id,
  role: 'assistant',
  toolCalls: [{ id: 'c', type: 'function', function: { name: 'pay', arguments: '{}' } }],
});

/** A step that answers, and counts how often the model reads these words of the user. */
function reading(words: string, seen: number[]): ScriptStep {
  return {
    text: 'Read.',
    expect: ({ messages }) => {
      const texts = messages.map(({ parts }) => textOf(parts));
      seen.push(texts.filter((text) => text.includes(words)).length);
    },
  };
}

/** A run that waits for an answer, and what its client has of it then. */
async function asked(): Promise<{ readonly id: string; readonly list: readonly object[] }> {
  const [interrupt] = endOf(await post({ runId: 'one', messages: [said('u1')] })).outcome
    .interrupts;
  return { id: interrupt?.id ?? '', list: [said('u1'), CALL('a1')] };
}

test('words beside answers to a run that is given up reach the next run once', async () => {
  const seen: number[] = [];
  await listening([ASKS, reading('Be quick', seen), reading('Be quick', seen)]);
  const { id, list } = await asked();
  const spoken = [...list, said('u2', 'Be quick')];
  const resume = [{ interruptId: id, status: 'cancelled' }];
  expect(endOf(await post({ runId: 'two', messages: spoken, resume })).outcome.type).toBe(
    'cancelled',
  );
  const next = [...spoken, said('u3', 'Again')];
  expect(endOf(await post({ runId: 'three', messages: next })).outcome.type).toBe('success');
  expect(seen).toEqual([1]);
  // What the next one has shown was lost on the way: its messages stand at the end of the list as before.
  const later = [...next, said('u4', 'Well?')];
  expect(endOf(await post({ runId: 'four', messages: later })).outcome.type).toBe('success');
  expect(seen).toEqual([1, 1]);
  const caller = at().app.local('operator', ALICE.scope);
  const { turns } = await at().app.runs.conversation('t', {}, caller);
  expect(turns.map(({ messages }) => textOf(messages[0]?.message.parts ?? []))).toEqual([
    'Go',
    'Again',
    'Well?',
  ]);
});

test('words beside answers to a run that fails reach the next run once', async () => {
  const seen: number[] = [];
  await listening([ASKS, FAILS, reading('Be quick', seen)]);
  const { id, list } = await asked();
  const spoken = [...list, said('u2', 'Be quick')];
  const resume = [{ interruptId: id, status: 'resolved', payload: { approved: true } }];
  // Its connection broke before anything was shown: the words are the last that the client has.
  expect(await post({ runId: 'two', messages: spoken, resume })).toContain('RUN_ERROR');
  const next = [...spoken, said('u3', 'Again')];
  expect(endOf(await post({ runId: 'three', messages: next })).outcome.type).toBe('success');
  expect(seen).toEqual([1]);
});

test('words that the run has never been given begin the next one', async () => {
  const seen: number[] = [];
  await listening([ASKS, FAILS, reading('Be quick', seen)]);
  const { id, list } = await asked();
  const resume = [{ interruptId: id, status: 'resolved', payload: { approved: true } }];
  await post({ runId: 'two', messages: list, resume });
  const next = [...list, said('u2', 'Be quick'), said('u3', 'Again')];
  expect(endOf(await post({ runId: 'three', messages: next })).outcome.type).toBe('success');
  expect(seen).toEqual([1]);
});

test('what can be no words to a run begins the next one as ever', async () => {
  await listening([ASKS, { text: 'Seen.' }]);
  const { id, list } = await asked();
  await post({ runId: 'two', resume: [{ interruptId: id, status: 'cancelled' }] });
  // No key can have this id, and no run reads a blank.
  const next = [...list, said('u2\u0000', 'Look'), said('u3', ' ')];
  expect(endOf(await post({ runId: 'three', messages: next })).outcome.type).toBe('success');
});

test('a store that is away while words are looked for ends the request, and nothing is begun', async () => {
  await listening([ASKS, { text: 'Read.' }]);
  const { id, list } = await asked();
  await post({ runId: 'two', resume: [{ interruptId: id, status: 'cancelled' }] });
  const { runs } = at().app;
  const away = new AgentError('STORE_UNREACHABLE', { message: 'disk', mend: 'look' });
  const gateway = Object.assign(Object.create(runs), { signal: () => Promise.reject(away) });
  const body = { threadId: 't', runId: 'three', messages: [...list, said('u3')] };
  const refused = await at().send('POST', '/listener', body, { gateway });
  expect(refused.status).toBe(503);
  expect(await refused.text()).not.toContain('disk');
  expect((await runs.list({}, at().app.local('operator', ALICE.scope))).items).toHaveLength(1);
});
