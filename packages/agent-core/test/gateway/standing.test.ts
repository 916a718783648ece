import { expect, test } from 'vitest';
import type { App, RunId } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf, gate, settled } from '../behaviours/harness.ts';
import { alice, asks, done, pendingWait, writer } from './harness.ts';

const as = { principal: alice.principal };
const conversationId = 'c1';
const input = { message: 'go', conversationId };

/** Where a run stands at every door that says so. */
async function standsAt({ runs }: App, runId: RunId): Promise<Readonly<Record<string, string>>> {
  const of = ({ status, transition, reason }: Awaited<ReturnType<typeof runs.get>>): string =>
    [status, transition, reason ?? '–'].join(' ');
  const listed = (await runs.list({}, alice)).items.find((run) => run.runId === runId);
  const { turns } = await runs.conversation(conversationId, {}, alice);
  const turn = turns.find(({ run }) => run.runId === runId);
  if (listed === undefined || turn === undefined) throw new Error(`${runId} is not shown`);
  return {
    get: of(await runs.get(runId, alice)),
    list: of(listed),
    conversation: of(turn.run),
    snapshot: of((await runs.snapshot(runId, alice)).run),
  };
}

const everywhere = (stands: string): Readonly<Record<string, string>> => ({
  get: stands,
  list: stands,
  conversation: stands,
  snapshot: stands,
});

test('a run whose model answers is active from its start on, before anything of the answer is stored', async () => {
  const store = memoryStore();
  const hold = gate();
  const owner = await appOf(writer, [{ text: 'Hi.', until: hold.promise }], { store });
  const other = await appOf(writer, [], { store });
  const run = await owner.start(writer, input, as);
  await settled();
  expect(await standsAt(owner, run.runId)).toEqual(everywhere('active running –'));
  // From elsewhere a list has the row only; who asks for the run itself sees that it has an owner.
  expect(await standsAt(other, run.runId)).toEqual({
    ...everywhere('created pending –'),
    get: 'active running –',
    snapshot: 'active running –',
  });
  hold.open();
  await run.result;
  expect(await standsAt(owner, run.runId)).toEqual(everywhere('completed completed –'));
  await Promise.all([owner.close(), other.close()]);
});

test('a run that waits for the one before it is created, and nothing else', async () => {
  const hold = gate();
  const app = await appOf(writer, [{ text: 'Hi.', until: hold.promise }, done], {
    store: memoryStore(),
  });
  const first = await app.start(writer, input, as);
  const second = await app.start(writer, { ...input, admission: 'queue' }, as);
  await settled();
  expect(await standsAt(app, second.runId)).toEqual(everywhere('created pending –'));
  hold.open();
  await Promise.all([first.result, second.result]);
  await app.close();
});

test('a run that was held is active as soon as it is gone on with, and at rest as soon as it rests', async () => {
  const hold = gate();
  const app = await appOf(writer, [asks, { text: 'Done.', until: hold.promise }], {
    store: memoryStore(),
  });
  const { runId } = await app.start(writer, input, as);
  const rested = async (): Promise<string | undefined> => (await standsAt(app, runId)).get;
  await expect.poll(rested).toBe('interrupted waiting-approval approval-required');
  const paused = await (await app.runs.resume(runId, alice)).result;
  expect(paused.kind).toBe('paused');
  await app.runs.signal(runId, { kind: 'pause', payload: {} }, alice);
  await expect.poll(rested).toBe('interrupted waiting-approval user-interrupted');
  await app.runs.resolve((await pendingWait(app, runId)).id, { decision: 'reject' }, alice);
  await app.runs.signal(runId, { kind: 'resume', payload: {} }, alice);
  await expect.poll(rested).toBe('active running –');
  hold.open();
  await expect.poll(rested).toBe('completed completed –');
  await app.close();
});
