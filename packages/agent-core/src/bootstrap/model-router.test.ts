import { expect, test } from 'vitest';
import { bind, definePort } from '../base/port.ts';
import { defineAgent } from '../definition/define-agent.ts';
import { Model } from '../model/agent-model.ts';
import { scripted, scriptedModel } from '../testing/scripted-model.ts';
import { bootstrap } from './bootstrap.ts';
import { modelRouter } from './model-router.ts';
import { definePlugin, type Plugin } from './plugin.ts';

const agent = defineAgent({ name: 'asker' });
interface Words {
  readonly word: string;
}
const Words = definePort<Words>('words');
const Extra = definePort<string>('extra');

const manifest = { version: '1', contract: 1, requires: [], contributes: [] } as const;
const options = {
  type: 'object',
  properties: { size: { type: 'integer' } },
  additionalProperties: false,
} as const;

/** A model plugin that needs a port, contributes another one, and tells what happens to it. */
function tracked(seen: string[], given: object = {}): Plugin {
  return definePlugin<object>({
    manifest: {
      ...manifest,
      name: 'tracked',
      requires: [Words],
      contributes: [Model, Extra],
      options,
    },
    setup: (_, { get, onStart, onClose }) => {
      seen.push(`set up with ${get(Words).word}`);
      onStart(async () => void seen.push('started'));
      onClose(async () => void seen.push('closed'));
      const inner = scripted([{ text: 'Tracked.' }]);
      return [bind(Model, { ...inner, id: 'tracked' }), bind(Extra, 'extra')];
    },
  })(given);
}

test('model plugins become the routes of one model, and live as if they were listed', async () => {
  const seen: string[] = [];
  const plain = scriptedModel([{ text: 'Plain.' }]);
  const app = await bootstrap({
    plugins: [modelRouter({ routes: { plain, special: tracked(seen) } })],
    provide: [bind(Words, { word: 'words' })],
    agents: [agent],
  });
  expect(await app.run(agent, 'go')).toMatchObject({ text: 'Plain.' });
  const special = { message: 'go', selection: { profile: 'special' } };
  expect(await app.run(agent, special)).toMatchObject({ text: 'Tracked.' });
  await expect(
    app.run(agent, { message: 'go', selection: { profile: 'other' } }),
  ).rejects.toMatchObject({ code: 'MODEL_SELECTION_REFUSED' });
  expect(app.all(Extra)).toEqual(['extra']);
  await app.close();
  expect(seen).toEqual(['set up with words', 'started', 'closed']);
});

test('everything that is wrong with routes and options is reported at once, under its place', async () => {
  const empty = definePlugin<object>({
    manifest: { ...manifest, name: 'empty', contributes: [Extra], options: { type: 'object' } },
    setup: () => [bind(Extra, 'x')],
  })({});
  const router = modelRouter({
    routes: {
      wrong: tracked([], { size: 'large' }),
      empty,
      called: scriptedModel as unknown as Plugin,
      nothing: undefined as unknown as Plugin,
    },
    default: 'unknown',
  });
  const failure = await bootstrap({ plugins: [router], agents: [] }).catch(String);
  for (const line of [
    'plugins[0].default: names "unknown", which is no route.',
    'plugins[0].routes.empty: contributes no model.',
    'plugins[0].routes.wrong (tracked).options:',
    'plugins[0].routes.called: is a function.',
    'plugins[0].routes.nothing: is not a plugin.',
  ])
    expect(failure).toContain(line);
});

test('what a route requires must be there before any of them is set up', async () => {
  const seen: string[] = [];
  const router = modelRouter({ routes: { special: tracked(seen) } });
  await expect(bootstrap({ plugins: [router], agents: [] })).rejects.toThrow(
    'requires "words", which nothing contributes',
  );
  expect(seen).toEqual([]);
});

test('a route that binds something else than it says is a problem of that route', async () => {
  const lying = definePlugin<object>({
    manifest: { ...manifest, name: 'lying', contributes: [Model], options: { type: 'object' } },
    setup: () => [],
  })({});
  await expect(
    bootstrap({ plugins: [modelRouter({ routes: { lying } })], agents: [] }),
  ).rejects.toThrow('lying: contributes "model" and did not bind it.');
});

test('a route whose setup throws is named', async () => {
  const broken = definePlugin<object>({
    manifest: { ...manifest, name: 'broken', contributes: [Model], options: { type: 'object' } },
    setup: () => {
      throw new Error('no');
    },
  })({});
  await expect(
    bootstrap({ plugins: [modelRouter({ routes: { broken } })], agents: [] }),
  ).rejects.toMatchObject({
    code: 'PLUGIN_SETUP_FAILED',
    message: expect.stringContaining('"broken"'),
  });
});

test('two addresses under one name of a provider are a problem of the routes', async () => {
  const at = (address: string): Plugin =>
    definePlugin<object>({
      manifest: { ...manifest, name: address, contributes: [Model], options: { type: 'object' } },
      setup: () => [bind(Model, { ...scripted([]), address })],
    })({});
  const routes = { east: at('http://east/v1'), west: at('http://west/v1') };
  await expect(bootstrap({ plugins: [modelRouter({ routes })], agents: [] })).rejects.toMatchObject(
    {
      code: 'BOOTSTRAP_INVALID',
      message: expect.stringContaining(
        'routes.west: asks http://west/v1 as "scripted", and routes.east asks http://east/v1 under the same name.',
      ),
    },
  );
});

test('time can be given', async () => {
  const { model: inner, ...plugin } = scriptedModel([{ text: 'ok' }]);
  const clock = { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() };
  const app = await bootstrap({
    plugins: [modelRouter({ routes: { only: plugin }, policy: 'least-loaded', clock })],
    agents: [agent],
  });
  expect(await app.run(agent, 'go')).toMatchObject({ text: 'ok' });
  expect(inner.requests.length).toBe(1);
  await app.close();
});
