import {
  AgentError,
  type App,
  bootstrap,
  type DurableStore,
  defineAgent,
  type RunId,
} from '@hexagent/agent-core';
import {
  memoryDurability,
  memoryStore,
  type ScriptStep,
  scriptedModel,
} from '@hexagent/agent-core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { configFolder } from '../../test/command-line.ts';
import { type FakeIo, fakeIo } from '../../test/fake-io.ts';
import { main } from '../main.ts';

const agent = defineAgent({ name: 'writer', recovery: 'action-boundary' });
const forever = { text: 'x', until: new Promise(() => undefined) };

const appOf = (store: DurableStore, steps: readonly ScriptStep[]): Promise<App> =>
  bootstrap({ plugins: [scriptedModel(steps), memoryDurability(store)], agents: [agent] });

/** A run that its process has given back. */
async function givenBack(store: DurableStore): Promise<RunId> {
  const app = await appOf(store, [forever]);
  const { runId } = await app.start(agent, 'x');
  await app.close();
  return runId;
}

type WorkerLine = FakeIo & { readonly done: Promise<number> };

/** `hexagent worker` over a store. */
async function workerLine(
  store: DurableStore,
  steps: readonly ScriptStep[],
  args: readonly string[] = [],
): Promise<WorkerLine> {
  const process = fakeIo({ cwd: await configFolder() });
  const app = await appOf(store, steps);
  onTestFinished(() => app.close());
  const done = main(['worker', ...args], { io: process.io, bootstrap: async () => app });
  return { ...process, done };
}

test('a worker prints a line for each run that it claims and each that rests, and ends with 0 when it is told to', async () => {
  const store = memoryStore();
  const runId = await givenBack(store);
  const line = await workerLine(store, [{ text: 'Done.' }]);
  await line.until('completed');
  line.raise('SIGTERM');
  expect(await line.done).toBe(0);
  expect(line.stdout()).toBe(
    `${runId}\twriter\tclaimed (delivery 1)\n${runId}\twriter\tcompleted\n`,
  );
  expect(line.stderr()).toContain('Stopped.');
});

test('a run in the middle of its work is given back on Ctrl-C; with --json every line is a record', async () => {
  const store = memoryStore();
  const runId = await givenBack(store);
  const line = await workerLine(store, [forever], ['--json', '--concurrency', '1']);
  await line.until('claimed');
  line.raise('SIGINT');
  expect(await line.done).toBe(0);
  expect(line.records()).toEqual([
    { type: 'claimed', runId, agent: 'writer', deliveries: 1 },
    { type: 'rested', runId, agent: 'writer', rest: 'given-back' },
  ]);
});

test('a second signal leaves at once', async () => {
  const { ownership, ...rest } = memoryStore();
  const silent = { ...ownership, claim: () => new Promise<undefined>(() => undefined) };
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    const line = await workerLine({ ...rest, ownership: silent }, [], ['--grace-ms', '500']);
    await line.until('Working');
    line.raise('SIGTERM');
    await line.until('Stopping');
    line.raise(signal);
    expect(line.exits).toEqual([code]);
  }
});

test('a store that is away is said, and a run that cannot be read with its id', async () => {
  const store = memoryStore();
  const runId = await givenBack(store);
  const gone = new AgentError('STORE_UNREACHABLE', { message: 'Gone.', mend: 'Wait.' });
  const broken = new AgentError('RECORD_CORRUPT', { message: 'Broken.', mend: 'Mend it.' });
  let claims = 0;
  const failing: DurableStore = {
    ...store,
    ownership: {
      ...store.ownership,
      claim: (...given) => {
        claims += 1;
        return claims === 1 ? Promise.reject(gone) : store.ownership.claim(...given);
      },
    },
    records: { ...store.records, load: () => Promise.reject(broken) },
  };
  const line = await workerLine(failing, [], ['--poll-ms', '10']);
  await line.until('RECORD_CORRUPT');
  line.raise('SIGTERM');
  expect(await line.done).toBe(0);
  expect(line.stderr()).toContain('The store: STORE_UNREACHABLE: Gone.');
  expect(line.stderr()).toContain(`${runId}: RECORD_CORRUPT: Broken.`);
});

test('a reader of its output that leaves ends a worker', async () => {
  const line = await workerLine(memoryStore(), []);
  await line.until('Working');
  line.stdoutStream.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  expect(await line.done).toBe(141);
});

test('an option out of its range is refused', async () => {
  for (const args of [
    ['--concurrency', '0'],
    ['--poll-ms', 'soon'],
    ['--grace-ms', '-1'],
  ]) {
    const line = await workerLine(memoryStore(), [], args);
    expect(await line.done).toBe(2);
  }
  const line = await workerLine(memoryStore(), [], ['--poll-ms', '1']);
  expect(await line.done).toBe(1);
  expect(line.stderr()).toContain('INPUT_INVALID');
});
