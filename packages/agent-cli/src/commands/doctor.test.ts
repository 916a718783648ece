import {
  AgentError,
  type AgentModel,
  bind,
  Durability,
  Migrator,
  Model,
} from '@hexagent/agent-core';
import { memoryStore, modelContract, storeContract } from '@hexagent/agent-core/testing';
import { expect, test } from 'vitest';
import { commandLine, configFolder } from '../../test/command-line.ts';

const model = (stream: AgentModel['stream']): AgentModel => ({
  id: 'fake',
  capabilities: () => ({
    tools: true,
    reasoning: false,
    structuredOutput: 'none',
    inputModalities: ['text'],
  }),
  stream,
});

const answering = model(async function* (_request, { signal }) {
  signal.throwIfAborted();
  yield [{ type: 'text', text: 'OK' }];
  signal.throwIfAborted();
  yield [{ type: 'finish', reason: 'stop', usage: {}, model: 'small' }];
});

const migrator = (pending: readonly string[]): Migrator => ({
  name: 'kysely',
  pending: async () => pending,
  migrate: async () => [],
});

test('looks at everything and changes nothing', async () => {
  const line = await commandLine(['doctor', '--json'], {
    app: {
      bindings: [
        bind(Model, answering),
        bind(Durability, memoryStore()),
        bind(Migrator, migrator([])),
      ],
    },
  });
  expect(await line.done).toBe(0);
  const names = line.records().map(({ subject, name, status }) => [subject, name, status]);
  expect(names).toContainEqual(['config', 'the configuration loads', 'ok']);
  expect(names).toContainEqual(['application', 'it can be composed', 'ok']);
  expect(names).toContainEqual(['migrations', 'kysely', 'ok']);
  expect(names).toContainEqual(['model', 'fake answers', 'ok']);
  const readOnly = storeContract.filter((rule) => rule.readOnly === true);
  expect(
    names.filter(([subject, , status]) => subject === 'store' && status === 'ok'),
  ).toHaveLength(
    readOnly.filter((rule) => rule.needs === undefined || rule.needs === 'clock').length,
  );
  expect(names.some(([, name]) => /rules that write$/.test(String(name)))).toBe(true);
  expect(line.configs[0]?.start).toBe(false);
  expect(line.records().at(-1)).toMatchObject({ type: 'summary', failed: 0 });
});

test('--write runs the whole kit of the store', async () => {
  const line = await commandLine(['doctor', '--write', '--no-model', '--json'], {
    app: { bindings: [bind(Durability, memoryStore())] },
  });
  expect(await line.done).toBe(0);
  const ran = line.records().filter(({ subject }) => subject === 'store');
  expect(ran).toHaveLength(storeContract.length);
}, 60_000);

test('the kit of the model runs once it has answered', async () => {
  const line = await commandLine(['doctor'], { app: { bindings: [bind(Model, answering)] } });
  await line.done;
  const rule = modelContract.find(({ needs }) => needs === undefined);
  expect(line.stdout()).toContain(`model: ${rule?.name}`);
});

test('a store that breaks a promise fails with the rule and what was seen', async () => {
  const store = {
    ...memoryStore(),
    records: { ...memoryStore().records, head: async () => ({}) as never },
  };
  const line = await commandLine(['doctor', '--write', '--no-model'], {
    app: { bindings: [bind(Durability, store)] },
  });
  expect(await line.done).toBe(1);
  expect(line.stdout()).toMatch(/^✗ store: /m);
}, 60_000);

test('a model that cannot be reached says what to do', async () => {
  const refusing = model(async function* () {
    yield* [];
    throw new AgentError('MODEL_UNREACHABLE', {
      message: 'Nobody listens.',
      mend: 'Start the server.',
    });
  });
  const line = await commandLine(['doctor'], { app: { bindings: [bind(Model, refusing)] } });
  expect(await line.done).toBe(1);
  expect(line.stdout()).toContain('✗ model: fake answers (MODEL_UNREACHABLE: Nobody listens.)');
  expect(line.stdout()).toContain('Mend: Start the server.');
});

test('a model that ends without a finish is not well', async () => {
  const silent = model(async function* () {
    yield [{ type: 'text', text: 'OK' }];
  });
  const line = await commandLine(['doctor'], { app: { bindings: [bind(Model, silent)] } });
  expect(await line.done).toBe(1);
  expect(line.stdout()).toContain('The answer ended without a finish.');
});

test('pending migrations are a failure that names the command', async () => {
  const line = await commandLine(['doctor', '--no-model'], {
    app: { bindings: [bind(Migrator, migrator(['0001-runs']))] },
  });
  expect(await line.done).toBe(1);
  expect(line.stdout()).toContain('0001-runs. Run hexagent migrate.');
});

test('without a configuration the rest is left out', async () => {
  const line = await commandLine(['doctor', '--json'], { cwd: await configFolder({}) });
  expect(await line.done).toBe(1);
  expect(line.records().map(({ subject, status }) => [subject, status])).toEqual([
    ['config', 'failed'],
    [undefined, undefined],
  ]);
});
