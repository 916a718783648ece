import { expect, test } from 'vitest';
import type { App, Caller, RunId, WaitId } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf, gate, until } from '../behaviours/harness.ts';
import {
  acme,
  alice,
  asks,
  bob,
  callerOf,
  chatter,
  codeOf,
  done,
  drained,
  errorOf,
  NOBODY,
  pendingWait,
  rival,
  writer,
} from './harness.ts';

type Door = {
  readonly name: string;
  readonly knock: (app: App, ids: { runId: RunId; waitId: WaitId }, caller: Caller) => unknown;
};

/** The doors that lead to one run. */
const DOORS: readonly Door[] = [
  { name: 'get', knock: (app, { runId }, caller) => app.runs.get(runId, caller) },
  { name: 'resume', knock: (app, { runId }, caller) => app.runs.resume(runId, caller) },
  { name: 'watch', knock: (app, { runId }, caller) => drained(app.runs.watch(runId, {}, caller)) },
  { name: 'evidence', knock: (app, { runId }, caller) => app.runs.evidence(runId, {}, caller) },
  { name: 'cancel', knock: (app, { runId }, caller) => app.runs.cancel(runId, 'no', caller) },
  {
    name: 'signal',
    knock: (app, { runId }, caller) =>
      app.runs.signal(runId, { kind: 'user-message', payload: { text: 'Hi.' } }, caller),
  },
  {
    name: 'cancel as a signal',
    knock: (app, { runId }, caller) =>
      app.runs.signal(runId, { kind: 'cancel', payload: {} }, caller),
  },
  {
    name: 'resolve',
    knock: (app, { waitId }, caller) => app.runs.resolve(waitId, { decision: 'approve' }, caller),
  },
  {
    name: 'a decision as a signal',
    knock: (app, { runId, waitId }, caller) =>
      app.runs.signal(
        runId,
        { kind: 'approval-decision', payload: { waitId, decision: 'approve' } },
        caller,
      ),
  },
];

async function pausedRun(): Promise<{ app: App; ids: { runId: RunId; waitId: WaitId } }> {
  const app = await appOf(writer, [asks, done], { store: memoryStore() });
  const run = await app.start(writer, 'Write.', { principal: alice.principal });
  expect((await run.result).kind).toBe('paused');
  const { id: waitId } = await pendingWait(app, run.runId);
  return { app, ids: { runId: run.runId, waitId } };
}

test.each(DOORS)('$name is open to the owner and to a service of the tenant', async ({ knock }) => {
  for (const caller of [alice, acme]) {
    const { app, ids } = await pausedRun();
    await knock(app, ids, caller);
    await app.close();
  }
});

test.each(DOORS)(
  '$name looks to everybody else as if the run were not there',
  async ({ knock, name }) => {
    const { app, ids } = await pausedRun();
    const nowhere = { runId: 'rnowhere' as RunId, waitId: 'rnowhere.1.0.w1' as WaitId };
    for (const caller of [bob, rival, callerOf('rival')]) {
      const foreign = await errorOf(() => knock(app, ids, caller));
      const missing = await errorOf(() => knock(app, nowhere, caller));
      const notFound = name === 'resolve' ? 'WAIT_NOT_FOUND' : 'RUN_NOT_FOUND';
      expect([foreign.code, missing.code]).toEqual([notFound, notFound]);
      const blank = (text: string): string =>
        text
          .replaceAll(ids.waitId, 'ID')
          .replaceAll(ids.runId, 'ID')
          .replaceAll(nowhere.waitId, 'ID')
          .replaceAll(nowhere.runId, 'ID');
      expect(blank(foreign.message)).toBe(blank(missing.message));
      expect(foreign.mend).toBe(missing.mend);
    }
    expect((await app.runs.get(ids.runId, alice)).status).toBe('interrupted');
    expect((await pendingWait(app, ids.runId)).status).toBe('pending');
    await app.close();
  },
);

test.each(DOORS)('$name is shut to a caller without a principal', async ({ knock }) => {
  const { app, ids } = await pausedRun();
  for (const nobody of NOBODY)
    expect(await codeOf(() => knock(app, ids, nobody))).toBe('PRINCIPAL_REQUIRED');
  await app.close();
});

test('the doors of a whole application are shut to a caller without a principal, before anything is told', async () => {
  const app = await appOf([writer, chatter], [], { store: memoryStore() });
  for (const nobody of NOBODY) {
    expect(await codeOf(() => app.runs.agents(nobody))).toBe('PRINCIPAL_REQUIRED');
    expect(await codeOf(() => app.runs.start('writer', { message: 'x' }, nobody))).toBe(
      'PRINCIPAL_REQUIRED',
    );
    expect(await codeOf(() => app.runs.start('guess', { message: 'x' }, nobody))).toBe(
      'PRINCIPAL_REQUIRED',
    );
    expect(await codeOf(() => app.runs.list({}, nobody))).toBe('PRINCIPAL_REQUIRED');
    expect(await codeOf(() => app.runs.waits({}, nobody))).toBe('PRINCIPAL_REQUIRED');
  }
  await app.close();
});

test('a run of a service, without a user, is everybody’s of its tenant', async () => {
  const app = await appOf(writer, [asks, done], { store: memoryStore() });
  const run = await app.start(writer, 'Write.', { principal: acme.principal });
  await run.result;
  expect((await app.runs.get(run.runId, bob)).status).toBe('interrupted');
  const { id } = await pendingWait(app, run.runId);
  expect(await codeOf(app.runs.resolve(id, { decision: 'approve' }, rival))).toBe('WAIT_NOT_FOUND');
  await app.runs.resolve(id, { decision: 'approve' }, bob);
  const joined = await app.runs.resume(run.runId, bob);
  expect((await joined.result).kind).toBe('completed');
  await app.close();
});

test('lists show a caller what is theirs: a user their own, a service the tenant’s', async () => {
  const store = memoryStore();
  const app = await appOf(writer, [asks, asks, asks], { store });
  const runs = await Promise.all(
    [alice, bob, rival].map(async ({ principal }) => {
      const run = await app.start(writer, 'Write.', { principal });
      await run.result;
      return run.runId;
    }),
  );
  const seen = async (caller: Caller): Promise<readonly (readonly string[])[]> => [
    (await app.runs.list({}, caller)).items.map(({ runId }) => runId).sort(),
    (await app.runs.waits({}, caller)).items.map(({ runId }) => runId).sort(),
  ];
  const [ofAlice, ofBob, ofRival] = runs as [RunId, RunId, RunId];
  expect(await seen(alice)).toEqual([[ofAlice], [ofAlice]]);
  expect(await seen(rival)).toEqual([[ofRival], [ofRival]]);
  const both = [ofAlice, ofBob].sort();
  expect(await seen(acme)).toEqual([both, both]);
  const forged = { scope: rival.principal.scope } as object;
  expect((await app.runs.list(forged, alice)).items.map(({ runId }) => runId)).toEqual([ofAlice]);
  await app.close();
});

test('lists come page by page, with bounds', async () => {
  const app = await appOf(writer, [asks, asks, asks], { store: memoryStore() });
  for (let count = 0; count < 3; count += 1)
    await (await app.start(writer, 'Write.', { principal: alice.principal })).result;
  const pages: number[] = [];
  const found = new Set<string>();
  for (let after: string | undefined, last = false; !last; ) {
    const page = await app.runs.waits(
      { limit: 2, ...(after === undefined ? {} : { after }) },
      alice,
    );
    pages.push(page.items.length);
    for (const { id } of page.items) found.add(id);
    after = page.next;
    last = after === undefined;
  }
  expect([pages, found.size]).toEqual([[2, 1], 3]);
  const first = await app.runs.list({ limit: 2 }, alice);
  const rest = await app.runs.list({ limit: 10_000, after: first.next as string }, alice);
  expect([first.items.length, rest.items.length, rest.next]).toEqual([2, 1, undefined]);
  for (const limit of [0, -1, 1.5, Number.NaN, '2' as unknown as number]) {
    expect(await codeOf(app.runs.list({ limit }, alice))).toBe('INPUT_INVALID');
    expect(await codeOf(app.runs.waits({ limit }, alice))).toBe('INPUT_INVALID');
    expect(await codeOf(app.runs.evidence(first.items[0]?.runId as RunId, { limit }, alice))).toBe(
      'INPUT_INVALID',
    );
  }
  expect(await codeOf(app.runs.list({ after: 'mine' }, alice))).toBe('INPUT_INVALID');
  await app.close();
});

test('evidence is read from a place and in pieces', async () => {
  const { app, ids } = await pausedRun();
  const all = await app.runs.evidence(ids.runId, {}, alice);
  expect(all.length).toBeGreaterThan(2);
  expect(await app.runs.evidence(ids.runId, { after: 1, limit: 1 }, alice)).toEqual([all[1]]);
  for (const after of [-1, 0.5, '1' as unknown as number])
    expect(await codeOf(app.runs.evidence(ids.runId, { after }, alice))).toBe('INPUT_INVALID');
  await app.close();
});

test('agents are described without what belongs to the model', async () => {
  const app = await appOf([writer, chatter], [], { store: memoryStore() });
  expect(app.runs.agents(alice)).toEqual([
    {
      name: 'writer',
      objective: 'Writes files.',
      description: 'A writer of files.',
      durable: true,
      accepts: writer.accepts,
      tools: [
        { name: 'look', description: 'Reads look.' },
        { name: 'write', description: 'Writes write.' },
      ],
    },
    {
      name: 'chatter',
      durable: false,
      accepts: [],
      tools: [{ name: 'look', description: 'Reads look.' }],
    },
  ]);
  await app.close();
});

test('a stateless run is its owner’s while it lives, and nobody’s afterwards', async () => {
  const hold = gate();
  const app = await appOf([chatter, writer], [{ text: 'Hi.', until: hold.promise }], {
    store: memoryStore(),
  });
  const run = await app.start(chatter, 'Hello.', { principal: alice.principal });
  const { runId } = run;
  const text = { kind: 'user-message', payload: { text: 'x' } } as const;
  for (const caller of [bob, rival]) {
    expect(await codeOf(app.runs.get(runId, caller))).toBe('RUN_NOT_FOUND');
    expect(await codeOf(app.runs.resume(runId, caller))).toBe('RUN_NOT_FOUND');
    expect(await codeOf(drained(app.runs.watch(runId, {}, caller)))).toBe('RUN_NOT_FOUND');
    expect(await codeOf(app.runs.cancel(runId, undefined, caller))).toBe('RUN_NOT_FOUND');
    expect(await codeOf(app.runs.signal(runId, text, caller))).toBe('RUN_NOT_FOUND');
  }
  expect(await app.runs.get(runId, acme)).toMatchObject({
    runId,
    status: 'active',
    agent: 'chatter',
  });
  expect(await codeOf(app.runs.signal(runId, text, alice))).toBe('SIGNAL_NOT_ACCEPTED');
  const watched = drained(app.runs.watch(runId, {}, alice));
  const joined = await app.runs.resume(runId, alice);
  const result = joined.result;
  hold.open();
  expect(await result).toMatchObject({ kind: 'completed', output: 'Hi.' });
  expect((await watched).flat().at(-1)?.event.type).toBe('run-finished');
  await until(async () => (await codeOf(app.runs.get(runId, alice))) === 'RUN_NOT_FOUND');
  expect(await codeOf(drained(app.runs.watch(runId, {}, alice)))).toBe('RUN_NOT_FOUND');
  await app.close();
});

test('a stateless run is cancelled at once, by its owner, with a reason', async () => {
  const hold = gate();
  const app = await appOf(chatter, [{ text: 'Hi.', until: hold.promise }]);
  const run = await app.start(chatter, 'Hello.', { principal: alice.principal });
  await app.runs.cancel(run.runId, 'enough', alice);
  await app.runs.cancel(run.runId, 'again', acme);
  expect(await run.result).toMatchObject({
    kind: 'cancelled',
    reason: 'enough',
    requestedBy: 'alice',
  });
  hold.open();
  await app.close();
});

test('an application without a store has no records, and says so', async () => {
  const app = await appOf(chatter, []);
  expect(await codeOf(app.runs.list({}, alice))).toBe('RUN_NOT_DURABLE');
  expect(await codeOf(app.runs.waits({}, alice))).toBe('RUN_NOT_DURABLE');
  expect(await codeOf(app.runs.get('r1' as RunId, alice))).toBe('RUN_NOT_FOUND');
  expect(
    await codeOf(app.runs.resolve('r1.1.0.w1' as WaitId, { decision: 'approve' }, alice)),
  ).toBe('WAIT_NOT_FOUND');
  await app.drive('r1' as RunId, { signal: alice.signal });
  expect(await app.recover({ signal: alice.signal })).toBe(0);
  await app.close();
});
