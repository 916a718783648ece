import type { AGUIEvent } from '@ag-ui/core';
import { bind, ClockPort, defineAgent, defineTool, effects, suspend } from '@hexagent/agent-core';
import { fakeClock, memoryStore } from '@hexagent/agent-core/testing';
import { afterEach, expect, test } from 'vitest';
import type { ThreadView } from '../src/index.ts';
import { ALICE, payTool, type Served, said, served } from './kit.ts';

let open: Served | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const PAY = { name: 'pay', input: { to: 'Ann' } };
const PAGE = { name: 'page', input: {} };
const TOOLS = [{ name: 'page', description: 'Opens a page.' }];

function at(): Served {
  if (open === undefined) throw new Error('Nothing is served.');
  return open;
}

const run = (input: Record<string, unknown>) => at().run({ threadId: 't', ...input });
const NEVER = { signal: new AbortController().signal };
const operator = () => at().app.local('operator', ALICE.scope);
const typesOf = (events: readonly AGUIEvent[]) => events.map(({ type }) => type);

function interruptsOf(events: readonly AGUIEvent[]): readonly { readonly id: string }[] {
  const end = events.at(-1);
  return end?.type === 'RUN_FINISHED' && end.outcome?.type === 'interrupt'
    ? end.outcome.interrupts
    : [];
}

const yes = (interruptId: string | undefined) => [
  { interruptId, status: 'resolved', payload: { approved: true } },
];

async function thread(): Promise<ThreadView> {
  return (await (await at().send('GET', '/clerk/threads/t')).json()) as ThreadView;
}

test('a run that is followed again does not ask what was answered meanwhile', async () => {
  open = await served([{ calls: [PAY] }, { text: 'Paid.' }]);
  const start = { runId: 'one', messages: [said('u')] };
  const [interrupt] = interruptsOf(await run(start));
  expect(interruptsOf(await run(start))).toEqual([interrupt]);
  await run({ runId: 'two', resume: yes(interrupt?.id) });
  const again = await run(start);
  expect(again.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
  expect(typesOf(again).filter((type) => type === 'TOOL_CALL_RESULT')).toHaveLength(1);
  expect(JSON.stringify(again)).toContain('Paid.');
});

test('an answer that comes again shows what came of later ones, too', async () => {
  open = await served([{ calls: [PAY] }, { calls: [PAY] }, { text: 'Paid twice.' }]);
  const [first] = interruptsOf(await run({ runId: 'one', messages: [said('u')] }));
  const answer = { runId: 'two', resume: yes(first?.id) };
  const [second] = interruptsOf(await run(answer));
  expect(interruptsOf(await run(answer))).toEqual([second]);
  await run({ runId: 'three', resume: yes(second?.id) });
  const again = await run(answer);
  expect(again.at(-1)).toMatchObject({ outcome: { type: 'success' } });
  expect(typesOf(again).filter((type) => type === 'TOOL_CALL_RESULT')).toHaveLength(2);
});

test('one of two questions answered elsewhere: the other one is asked', async () => {
  open = await served([{ calls: [PAY, PAY] }]);
  const start = { runId: 'one', messages: [said('u')] };
  const [first, second] = interruptsOf(await run(start));
  await at().app.runs.resolve(first?.id as never, { decision: 'approve' }, operator());
  expect(interruptsOf(await run(start)).map(({ id }) => id)).toEqual([second?.id]);
});

test('a result that a client gave is in its list once, also when it reads the run again', async () => {
  const store = memoryStore();
  open = await served([{ text: 'So.', calls: [PAGE] }, { text: 'Open.' }], { store });
  const start = { runId: 'one', messages: [said('u')], tools: TOOLS };
  await run(start);
  const before = await thread();
  const [toolCallId] = before.pendingToolCallIds;
  const reply = { id: 'own', role: 'tool', toolCallId, content: 'done' };
  await run({ runId: 'two', messages: [...before.messages, reply], tools: TOOLS });
  const ids = (await thread()).messages.map(({ id }) => id);
  const list = [...before.messages, reply, { id: ids.at(-1), role: 'assistant', content: 'Open.' }];
  const again = await run({ ...start, messages: list });
  const snapshot = again.find(({ type }) => type === 'MESSAGES_SNAPSHOT');
  expect(snapshot).toMatchObject({ messages: [{ id: 'u' }] });
  expect(typesOf(again).filter((type) => type === 'TOOL_CALL_RESULT')).toHaveLength(1);
  // The log is shortened: the messages of the run take the place of the client's, the result included.
  const ended = Date.now();
  while (Date.now() === ended) await new Promise((resolve) => setImmediate(resolve));
  await at().app.prune({ olderThan: 0, keep: 'evidence', scope: { tenantId: 'acme' } });
  const pruned = await run({ ...start, messages: list });
  expect(typesOf(pruned).filter((type) => type === 'TOOL_CALL_RESULT')).toEqual([]);
});

test('an answer after its time is refused; who gives the question up then loses no run', async () => {
  const clock = fakeClock();
  const pay = payTool();
  const asker = defineAgent({
    name: 'asker',
    recovery: 'action-boundary',
    approvals: { expiresInMs: 1_000, onExpiry: 'reject' },
    tools: [pay],
  });
  open = await served([{ calls: [{ name: 'pay', input: {} }] }, { text: 'Not paid.' }], {
    agents: [asker],
    store: memoryStore({ clock }),
    provide: [bind(ClockPort, clock)],
  });
  const post = async (input: object): Promise<string> =>
    (await at().send('POST', '/asker', { threadId: 't', messages: [], ...input })).text();
  const first = await post({ runId: 'one', messages: [said('u')] });
  const [interrupt] = JSON.parse(first.split('data: ').at(-1) ?? '').outcome.interrupts;
  expect(interrupt.expiresAt).toBe(new Date(clock.now() + 1_000).toISOString());
  await clock.advance(1_000);
  expect(await post({ runId: 'two', resume: yes(interrupt.id) })).toMatch(
    /RUN_ERROR.*WAIT_(EXPIRED|ALREADY_RESOLVED)/,
  );
  const given = await post({
    runId: 'three',
    resume: [{ interruptId: interrupt.id, status: 'cancelled' }],
  });
  expect(given).toContain('Not paid.');
  expect(given).toContain('"outcome":{"type":"success"}');
});

test('an answer of another form than was asked for is refused, and may be mended', async () => {
  const ask = defineTool({
    name: 'ask',
    description: 'Asks.',
    input: { type: 'object' },
    effects: effects.readOnly(),
    execute: () =>
      suspend({
        kind: 'input',
        message: 'How many?',
        schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
      }),
  });
  const asker = defineAgent({ name: 'asker', recovery: 'action-boundary', tools: [ask] });
  open = await served([{ calls: [{ name: 'ask', input: {} }] }, { text: 'Thanks.' }], {
    agents: [asker],
  });
  const post = async (input: object): Promise<string> =>
    (await at().send('POST', '/asker', { threadId: 't', messages: [], ...input })).text();
  const first = await post({ runId: 'one', messages: [said('u')] });
  const [{ id: interruptId, responseSchema }] = JSON.parse(first.split('data: ').at(-1) ?? '')
    .outcome.interrupts;
  expect(responseSchema).toMatchObject({ required: ['n'] });
  const answer = (payload: unknown) => [{ interruptId, status: 'resolved', payload }];
  expect(await post({ runId: 'two', resume: answer({ n: 'many' }) })).toMatch(/RUN_ERROR/);
  expect(await post({ runId: 'three', resume: answer({ n: 3 }) })).toContain('Thanks.');
});

/** The question of a run is answered, by a process that has died before it went on. */
async function answeredByTheDead(): Promise<string> {
  const store = memoryStore();
  open = await served([{ calls: [PAY] }, { text: 'Done.' }], { store });
  const [interrupt] = interruptsOf(await run({ runId: 'one', messages: [said('u')] }));
  const [state] = (await open.app.runs.list({}, operator())).items;
  if (interrupt === undefined || state === undefined) throw new Error('Nothing is asked.');
  const wait = (await store.records.load(state.runId, NEVER))?.waits[0];
  if (wait === undefined) throw new Error('Nothing is waited for.');
  const decision = 'approve';
  await store.inbox.resolve(
    wait.id,
    { digest: wait.digest, decision, resolution: { plain: { decision } }, by: 'alice' },
    NEVER,
  );
  return interrupt.id;
}

test('an answer whose process died before it went on is carried out when it comes again', async () => {
  const resume = yes(await answeredByTheDead());
  expect((await run({ runId: 'two', resume })).at(-1)).toMatchObject({
    outcome: { type: 'success' },
  });
  expect(at().paid).toEqual([{ to: 'Ann' }]);
});

test('a run that has its answers is not held: it asks nothing, and goes on when it is followed', async () => {
  await answeredByTheDead();
  expect(await thread()).toMatchObject({ interrupts: [], run: { status: 'interrupted' } });
  const events = await run({ runId: 'one', messages: [said('u')] });
  expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
  expect(at().paid).toEqual([{ to: 'Ann' }]);
});
