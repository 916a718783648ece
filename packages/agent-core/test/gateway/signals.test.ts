import { expect, test } from 'vitest';
import {
  defineAgent,
  type RunId,
  SIGNAL_KINDS,
  type SignalKind,
  suspend,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf, calls, gate, read, until, userTexts } from '../behaviours/harness.ts';
import {
  acme,
  alice,
  asks,
  bob,
  codeOf,
  done,
  errorOf,
  everyEvent,
  pendingWait,
  waitsOf,
  write,
  writer,
} from './harness.ts';

const listener = defineAgent({ name: 'listener', accepts: ['user-message', 'cancel'] });
const said = (text: string) => ({ kind: 'user-message', payload: { text } }) as const;

/** A run whose model waits for the gate. */
async function listening() {
  const hold = gate();
  const app = await appOf(listener, [{ text: 'One.', until: hold.promise }, { text: 'Two.' }], {
    store: memoryStore(),
  });
  const run = await app.start(listener, 'Begin.', { principal: alice.principal });
  return { app, run, hold };
}

test('a message reaches a run that is worked on here', async () => {
  const { app, run, hold } = await listening();
  await app.runs.signal(run.runId, said('More.'), alice);
  hold.open();
  expect(await run.result).toMatchObject({ kind: 'completed', output: 'Two.' });
  expect(userTexts(app)).toEqual(['Begin.', 'More.']);
  await app.close();
});

test('the same dedupe key twice is one message, and two without a key are two', async () => {
  const { app, run, hold } = await listening();
  await app.runs.signal(run.runId, { ...said('Once.'), dedupeKey: 'k' }, alice);
  await app.runs.signal(run.runId, { ...said('Once.'), dedupeKey: 'k' }, acme);
  await app.runs.signal(run.runId, said('Twice.'), alice);
  await app.runs.signal(run.runId, said('Twice.'), alice);
  hold.open();
  await run.result;
  expect(userTexts(app)).toEqual(['Begin.', 'Once.', 'Twice.', 'Twice.']);
  await app.close();
});

test('a text may come under any of the names that clients use', async () => {
  const { app, run, hold } = await listening();
  for (const payload of [{ message: 'A.' }, { instruction: 'B.' }])
    await app.runs.signal(run.runId, { kind: 'user-message', payload }, alice);
  hold.open();
  await run.result;
  expect(userTexts(app)).toEqual(['Begin.', 'A.', 'B.']);
  await app.close();
});

test('a kind that the agent does not accept is refused, with those that it does', async () => {
  const { app, run, hold } = await listening();
  const kinds: readonly SignalKind[] = ['pause', 'resume', 'scheduler-wake-up'];
  for (const kind of kinds) {
    const error = await errorOf(app.runs.signal(run.runId, { kind, payload: {} }, alice));
    expect([error.code, error.mend]).toEqual([
      'SIGNAL_NOT_ACCEPTED',
      expect.stringContaining('It accepts: user-message, cancel.'),
    ]);
  }
  hold.open();
  await run.result;
  await app.close();
});

test.each<[string, unknown, readonly string[]]>([
  ['nothing', undefined, ['kind:', 'payload:']],
  ['a kind that there is not', { kind: 'shout', payload: {} }, ['kind: is "shout".']],
  [
    'everything wrong at once',
    { kind: 3, payload: 'x', dedupeKey: ' ' },
    ['kind:', 'dedupeKey:', 'payload:'],
  ],
  ['a key that is no text', { ...said('x'), dedupeKey: 3 }, ['dedupeKey: is 3.']],
  ['a blank text', said(' '), ['payload.text: is missing or blank.']],
  ['no text', { kind: 'follow-up', payload: { text: 3 } }, ['payload.text: is missing or blank.']],
  [
    'an event without a name',
    { kind: 'external-event', payload: {} },
    ['payload.name: is missing or blank.'],
  ],
  [
    'a decision about nothing',
    { kind: 'approval-decision', payload: { decision: 'approve' } },
    ['payload.waitId: is missing or blank.'],
  ],
])('%s is no signal', async (_what, signal, places) => {
  const { app, run, hold } = await listening();
  const error = await errorOf(app.runs.signal(run.runId, signal as never, alice));
  expect(error.code).toBe('INPUT_INVALID');
  const lines = error.message.split('\n').slice(1);
  expect(lines).toEqual(places.map((place) => expect.stringContaining(`- ${place}`)));
  hold.open();
  await run.result;
  await app.close();
});

test('a run that has ended takes nothing: no message, no cancellation, and is not revived', async () => {
  const app = await appOf(listener, [done], { store: memoryStore() });
  const run = await app.start(listener, 'x', { principal: alice.principal });
  await run.result;
  expect(await codeOf(app.runs.signal(run.runId, said('More.'), alice))).toBe('RUN_ENDED');
  expect(await codeOf(app.runs.cancel(run.runId, undefined, alice))).toBe('RUN_ENDED');
  const again = await app.runs.resume(run.runId, alice);
  expect(await again.result).toEqual(await run.result);
  expect(app.model.requests).toHaveLength(1);
  await app.close();
});

test('a cancellation that was asked for twice happens once, also when the second comes late', async () => {
  const { app, run, hold } = await listening();
  await app.runs.cancel(run.runId, 'enough', alice);
  await app.runs.signal(run.runId, { kind: 'cancel', payload: { reason: 'again' } }, acme);
  expect(await run.result).toMatchObject({
    kind: 'cancelled',
    reason: 'enough',
    requestedBy: 'alice',
  });
  await app.runs.cancel(run.runId, 'late', alice);
  const finished = (await everyEvent(app, run.runId)).filter(
    ({ event }) => event.type === 'run-finished',
  );
  expect(finished).toHaveLength(1);
  hold.open();
  await app.close();
});

test('a cancellation as a signal carries its reason', async () => {
  const { app, run, hold } = await listening();
  await app.runs.signal(run.runId, { kind: 'cancel', payload: { reason: 'enough' } }, alice);
  expect(await run.result).toMatchObject({ kind: 'cancelled', reason: 'enough' });
  hold.open();
  await app.close();
});

test('a message to a paused run waits there, and is read when the run goes on', async () => {
  const app = await appOf(writer, [asks, done, { text: 'Read.' }], { store: memoryStore() });
  const run = await app.start(writer, 'x', { principal: alice.principal });
  await run.result;
  await app.runs.signal(run.runId, said('By the way.'), alice);
  expect((await app.runs.get(run.runId, alice)).status).toBe('interrupted');
  await app.runs.resolve((await pendingWait(app, run.runId)).id, { decision: 'approve' }, alice);
  await (await app.runs.resume(run.runId, alice)).result;
  expect(userTexts(app)).toContain('By the way.');
  await app.close();
});

test('an event from outside answers the wait of its name', async () => {
  const delivery = read('delivery', () => suspend({ kind: 'event', name: 'delivered' }), {
    resume: (_input, { resolution }) => JSON.stringify(resolution),
  });
  const shop = defineAgent({
    name: 'shop',
    recovery: 'action-boundary',
    accepts: ['external-event'],
    tools: [delivery],
  });
  const app = await appOf(shop, [calls(['delivery', 'a']), done], { store: memoryStore() });
  const run = await app.start(shop, 'x', { principal: alice.principal });
  await run.result;
  const other = { kind: 'external-event', payload: { name: 'lost' } } as const;
  await app.runs.signal(run.runId, other, alice);
  await until(async () => (await app.runs.get(run.runId, alice)).status === 'interrupted');
  expect((await pendingWait(app, run.runId)).kind).toBe('event');
  const event = { kind: 'external-event', payload: { name: 'delivered', value: 7 } } as const;
  await app.runs.signal(run.runId, event, alice);
  await until(async () => (await app.runs.get(run.runId, alice)).status === 'completed');
  expect((await waitsOf(app, run.runId)).map(({ status }) => status)).toEqual(['used']);
  await app.close();
});

test('a run of an agent that this process does not have is written to, and left to others', async () => {
  const store = memoryStore();
  const owner = await appOf(writer, [asks, done], { store });
  const run = await owner.start(writer, 'x', { principal: alice.principal });
  await run.result;
  const desk = await appOf(listener, [], { store });
  const { id } = await pendingWait(desk, run.runId);
  await desk.runs.signal(run.runId, { kind: 'pause', payload: {} }, alice);
  await desk.runs.signal(run.runId, { kind: 'resume', payload: {} }, alice);
  await desk.runs.resolve(id, { decision: 'modify', input: { id: 'b.txt' } }, alice);
  const joined = await desk.runs.resume(run.runId, alice);
  const { result } = joined;
  expect(await codeOf(desk.drive(run.runId, { signal: alice.signal }))).toBe('AGENT_UNKNOWN');
  expect(await desk.recover({ signal: alice.signal })).toBe(0);
  expect(await owner.recover({ signal: alice.signal })).toBe(1);
  expect((await (await desk.runs.resume(run.runId as RunId, alice)).result).kind).toBe('completed');
  expect(['paused', 'completed']).toContain((await result).kind);
  await Promise.all([owner.close(), desk.close()]);
});

test('a decision that names a wait of another run changes nothing, through the door of this one', async () => {
  const app = await appOf(writer, [asks, asks], { store: memoryStore() });
  const [one, two] = [
    await app.start(writer, 'x', { principal: alice.principal }),
    await app.start(writer, 'y', { principal: alice.principal }),
  ];
  await Promise.all([one.result, two.result]);
  const { id } = await pendingWait(app, two.runId);
  const decision = { kind: 'approval-decision', payload: { waitId: id, decision: 'approve' } };
  expect(await codeOf(app.runs.signal(one.runId, decision as never, alice))).toBe('WAIT_NOT_FOUND');
  expect((await pendingWait(app, two.runId)).status).toBe('pending');
  await app.close();
});

test('a deferred question stays open, and a decision after it counts, also as signals', async () => {
  const app = await appOf(writer, [asks, done], { store: memoryStore() });
  const run = await app.start(writer, 'x', { principal: alice.principal });
  await run.result;
  const { id } = await pendingWait(app, run.runId);
  for (const decision of ['defer', 'defer', 'approve']) {
    const payload = { waitId: id, decision };
    await app.runs.signal(run.runId, { kind: 'approval-decision', payload }, alice);
  }
  expect((await (await app.runs.resume(run.runId, alice)).result).kind).toBe('completed');
  await app.close();
});

test('a wake-up that names no timer of its run is refused, and nothing has changed', async () => {
  const sleeper = defineAgent({
    name: 'sleeper',
    recovery: 'action-boundary',
    accepts: ['scheduler-wake-up'],
    tools: [write],
  });
  const store = memoryStore();
  const app = await appOf(sleeper, [asks], { store });
  const run = await app.start(sleeper, 'x', { principal: alice.principal });
  await run.result;
  const { id } = await pendingWait(app, run.runId);
  for (const waitId of [id, `${id}9`, 'rother.1.0.w1', 3]) {
    const wakeUp = { kind: 'scheduler-wake-up', payload: { waitId } } as const;
    expect(await codeOf(app.runs.signal(run.runId, wakeUp, alice))).toBe('WAIT_NOT_FOUND');
  }
  expect(await store.inbox.pending(run.runId, { signal: alice.signal })).toEqual([]);
  await app.close();
});

test('a run of somebody else takes no signal of any kind, and looks like none', async () => {
  const { app, run, hold } = await listening();
  const payloads = { text: 'x', name: 'x', waitId: `${run.runId}.1.0.w1`, decision: 'approve' };
  for (const kind of SIGNAL_KINDS) {
    const theirs = await errorOf(app.runs.signal(run.runId, { kind, payload: payloads }, bob));
    const absent = await errorOf(
      app.runs.signal('rnone' as RunId, { kind, payload: payloads }, bob),
    );
    expect([theirs.code, theirs.mend]).toEqual([absent.code, absent.mend]);
    expect(theirs.code).toMatch(/_NOT_FOUND$/);
  }
  hold.open();
  expect(await run.result).toMatchObject({ kind: 'completed', text: 'One.' });
  await app.close();
});
