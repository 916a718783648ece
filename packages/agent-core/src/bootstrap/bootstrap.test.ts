import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { AgentError } from '../base/error.ts';
import { storeFailed } from '../base/error-catalog.ts';
import { type AnyPort, type Binding, bind, definePort } from '../base/port.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import { defineAgent } from '../definition/define-agent.ts';
import { Durability } from '../durable/durable-store.ts';
import { Migrator } from '../durable/migrator.ts';
import { Sealer } from '../durable/sealer.ts';
import { secret } from '../guard/sensitive.ts';
import { Model } from '../model/agent-model.ts';
import { ToolSource } from '../sources/tool-source.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { fakeIds } from '../testing/fake-ids.ts';
import { memoryStore } from '../testing/memory-store.ts';
import { type ScriptOptions, scriptedModel } from '../testing/scripted-model.ts';
import { defineTool } from '../tools/define-tool.ts';
import { effects } from '../tools/effects.ts';
import type { Tool } from '../tools/tool.ts';
import type { App, AppConfig } from './app.ts';
import { bootstrap } from './bootstrap.ts';
import { ClockPort, IdsPort } from './environment.ts';
import { definePlugin, type Plugin, type SetupContext } from './plugin.ts';

const Files = definePort<string>('files');
const Shell = definePort<string>('shell');
const Sinks = definePort<string>('sinks', { arity: 'many' });
const plain = defineAgent({ name: 'plain', execute: () => 'done' });

type Setup = (context: SetupContext) => readonly Binding[] | Promise<readonly Binding[]>;

function plugin(
  name: string,
  given: {
    readonly contributes?: readonly AnyPort[];
    readonly requires?: readonly AnyPort[];
    readonly setup?: Setup;
  } = {},
): Plugin {
  const { contributes = [], requires = [], setup = () => [] } = given;
  return definePlugin<unknown>({
    manifest: { name, version: '1', contract: 1, contributes, requires, options: {} },
    setup: (_options, context) => setup(context),
  })({});
}

async function failure(config: unknown): Promise<AgentError> {
  const caught: unknown = await bootstrap(config as AppConfig).then(
    () => 'it started',
    (error: unknown) => error,
  );
  if (!AgentError.is(caught)) throw caught;
  return caught;
}

async function problemsOf(config: unknown): Promise<readonly string[]> {
  const error = await failure(config);
  expect(error.code).toBe('BOOTSTRAP_INVALID');
  return error.message
    .split('\n')
    .slice(1)
    .map((line) => line.slice('  - '.length));
}

const started = (config: Partial<AppConfig>): Promise<App> =>
  bootstrap({ plugins: [], agents: [], ...config });

test('composes an application and runs an agent that brings its own loop', async () => {
  const app = await started({ agents: [plain] });
  expect(await app.run(plain, 'go')).toMatchObject({ kind: 'completed', output: 'done' });
  expect(app.local('me')).toMatchObject({
    principal: { scope: { tenantId: 'local' }, subject: 'me', roles: [], permissions: [] },
  });
  expect(app.local('me', { tenantId: 't', userId: 'u' }).principal.scope).toEqual({
    tenantId: 't',
    userId: 'u',
  });
  await app.close();
});

test('takes clock and ids from where they are provided', async () => {
  const clock = fakeClock(5_000);
  const app = await started({
    agents: [plain],
    provide: [bind(ClockPort, clock), bind(IdsPort, fakeIds())],
  });
  const run = await app.start(plain, 'go');
  const again = await started({ agents: [plain], provide: [bind(IdsPort, fakeIds())] });
  expect(run.runId).toBe((await again.start(plain, 'go')).runId);
  for await (const { at } of run.events()) expect(at).toBe(5_000);
  await Promise.all([app.close(), again.close()]);
});

test.each([undefined, null, 'config', []])('refuses a config that is none: %s', async (config) => {
  expect(await problemsOf(config)).toEqual([
    expect.stringMatching(
      /^config: is .+\. Pass one object: bootstrap\(\{ plugins, agents \}\)\.$/,
    ),
  ]);
});

test('names everything that is wrong with the form of a config, at once', async () => {
  const factory = definePlugin({
    manifest: { name: 'f', version: '1', contract: 1, contributes: [], requires: [], options: {} },
    setup: () => [],
  });
  const plugins = [
    factory,
    undefined,
    { manifest: {} },
    { manifest: { name: 'm', contributes: 'x' }, setup: () => [] },
    plugin('a', { contributes: [Files] }),
    plugin('a', { contributes: [Files] }),
  ];
  const problems = await problemsOf({
    plugins,
    provide: [Files, bind(Shell, 'sh')],
    agents: ['plain', undefined, plain],
    leaseMs: 12,
  });
  expect(problems).toEqual([
    'plugins[0]: is a function. Call the factory, with its options: plugins: [vllm({ … })].',
    'plugins[1]: is not a plugin. Make the plugin with definePlugin.',
    'plugins[2]: is not a plugin. Make the plugin with definePlugin.',
    expect.stringContaining('plugins[3] (m).version'),
    expect.stringContaining('plugins[3] (m).contract'),
    expect.stringContaining('plugins[3] (m).contributes'),
    expect.stringContaining('plugins[3] (m).requires'),
    expect.stringContaining('plugins[3] (m).options'),
    'plugins[5] (a): is given a second time. Give each plugin once.',
    'provide[0]: is not a binding. Make it with bind(port, value).',
    'agents[0]: is not an agent. Make it with defineAgent.',
    'agents[1]: is not an agent. Make it with defineAgent.',
    'leaseMs: is 12. Give whole milliseconds from 1000, or leave it out.',
  ]);
  expect(await problemsOf({})).toEqual([
    'plugins: is undefined. Pass a list.',
    'agents: is undefined. Pass a list.',
  ]);
});

test('checks the options of a plugin before any plugin is set up', async () => {
  let ran = false;
  const strict = definePlugin<{ readonly url?: string }>({
    manifest: {
      name: 'strict',
      version: '1',
      contract: 1,
      contributes: [],
      requires: [],
      options: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
    },
    setup: () => {
      ran = true;
      return [];
    },
  });
  const problems = await problemsOf({
    plugins: [strict({}), strict(undefined as never)],
    agents: [],
  });
  expect(problems).toHaveLength(2);
  expect(problems[0]).toMatch(/^plugins\[0\] \(strict\)\.options: .*url/);
  expect([ran, strict.manifest.name]).toEqual([false, 'strict']);
});

test('a plugin that contributes lists only may be given as often as one likes', async () => {
  const sources = ['a', 'b'].map((id) =>
    plugin('mcp', {
      contributes: [ToolSource],
      setup: () => [
        bind(ToolSource, { id, open: async () => ({ tools: [], close: async () => undefined }) }),
      ],
    }),
  );
  const app = await started({ plugins: sources });
  expect(app.all(ToolSource).map(({ id }) => id)).toEqual(['a', 'b']);
  await app.close();
});

test('refuses circles and ports that nobody contributes before any setup', async () => {
  expect(
    await problemsOf({
      plugins: [
        plugin('a', { contributes: [Files], requires: [Shell] }),
        plugin('b', { contributes: [Shell], requires: [Files, Model] }),
      ],
      agents: [],
    }),
  ).toEqual([
    expect.stringContaining('plugins[1] (b): requires "model", which nothing contributes.'),
    expect.stringContaining('wait for each other: a → b.'),
  ]);
});

test('sets plugins up in order, each with what it requires', async () => {
  const seen: unknown[] = [];
  const app = await started({
    plugins: [
      plugin('last', {
        requires: [Files, Sinks],
        setup: ({ get, all }) => {
          seen.push(get(Files), all(Sinks));
          return [];
        },
      }),
      plugin('files', { contributes: [Files], setup: async () => [bind(Files, 'f')] }),
      plugin('sinks', {
        contributes: [Sinks],
        setup: () => [bind(Sinks, 'one'), bind(Sinks, 'two')],
      }),
    ],
  });
  expect(seen).toEqual(['f', ['one', 'two']]);
  expect([app.all(Files), app.all(Sinks), app.all(Shell)]).toEqual([['f'], ['one', 'two'], []]);
  await app.close();
});

test('holds what a setup returned against what its manifest declares', async () => {
  expect(
    await problemsOf({
      plugins: [
        plugin('more', { setup: () => [bind(Files, 'f')] }),
        plugin('less', { contributes: [Shell] }),
        plugin('none', { setup: () => undefined as never }),
      ],
      agents: [],
    }),
  ).toEqual([
    'more: binds "files", which its manifest does not contribute. Add the port to contributes.',
    'less: contributes "shell" and did not bind it. Return bind(…) for it from setup.',
    'none: returned undefined from setup. Return a list of bindings: [bind(port, value)].',
  ]);
});

test('refuses two values for a port that takes one', async () => {
  expect(
    await problemsOf({
      plugins: [plugin('files', { contributes: [Files], setup: () => [bind(Files, 'f')] })],
      provide: [bind(Files, 'g'), bind(Sinks, 'one'), bind(Sinks, 'two')],
      agents: [],
    }),
  ).toEqual([
    'files: binds "files", which provide binds already. Keep one of them: the port takes a single value.',
  ]);
});

test('a plugin is not given what it does not require, and not what is not bound', async () => {
  const get = (port: typeof Files, requires: readonly AnyPort[]): Plugin =>
    plugin('asker', {
      requires,
      setup: (context) => [bind(port, context.get(port))],
    });
  expect(
    await failure({ plugins: [get(Files, [])], provide: [bind(Files, 'f')], agents: [] }),
  ).toMatchObject({
    code: 'PLUGIN_SETUP_FAILED',
    message:
      'The plugin "asker" could not be set up: it asks for "files", which its manifest does not require',
  });
  const all = plugin('lister', { setup: (context) => context.all(Sinks) as never });
  expect(await failure({ plugins: [all], agents: [] })).toMatchObject({
    message: expect.stringContaining('it asks for "sinks", which its manifest does not require'),
  });
  const own = plugin('own', {
    contributes: [Files],
    requires: [Files],
    setup: (context) => [bind(Files, context.get(Files))],
  });
  expect(await failure({ plugins: [own], agents: [] })).toMatchObject({
    code: 'PORT_UNBOUND',
    message: 'The plugin "own": its setup asked for the port "files", and nothing is bound to it.',
  });
});

test('an AgentError of a setup keeps its code; anything else is PLUGIN_SETUP_FAILED with its cause', async () => {
  const failing = (error: unknown): Plugin =>
    plugin('store', {
      setup: () => {
        throw error;
      },
    });
  const own = storeFailed('the opening', 'it is locked');
  expect(await failure({ plugins: [failing(own)], agents: [] })).toMatchObject({
    code: 'STORE_FAILED',
    message: `The plugin "store": ${own.message}`,
    mend: own.mend,
    cause: own,
  });
  const other = new TypeError('x is not a function');
  expect(await failure({ plugins: [failing(other)], agents: [] })).toMatchObject({
    code: 'PLUGIN_SETUP_FAILED',
    message: 'The plugin "store" could not be set up: x is not a function',
    cause: other,
  });
});

test('whatever was set up is closed again when something fails, at any stage', async () => {
  const closed: string[] = [];
  const closing = (name: string, fails: 'never' | 'setup' | 'start' = 'never'): Plugin =>
    plugin(name, {
      setup: ({ onClose, onStart }) => {
        onClose(async () => {
          closed.push(name);
        });
        if (fails === 'setup') throw new Error('no');
        if (fails === 'start')
          onStart(async () => {
            throw new Error('no');
          });
        return [];
      },
    });
  const closedAfter = async (config: unknown): Promise<readonly string[]> => {
    closed.length = 0;
    await failure(config);
    return [...closed];
  };
  expect(await closedAfter({ plugins: [closing('a'), closing('b', 'setup')], agents: [] })).toEqual(
    ['b', 'a'],
  );
  expect(await closedAfter({ plugins: [closing('a', 'start'), closing('b')], agents: [] })).toEqual(
    ['a', 'b'],
  );
  const needing = defineAgent({ name: 'x', needs: { files: Files }, execute: () => 'x' });
  expect(await closedAfter({ plugins: [closing('a')], agents: [needing] })).toEqual(['a']);
});

test('starts nothing with start: false, and still closes', async () => {
  const steps: string[] = [];
  const host = plugin('host', {
    setup: ({ onStart, onClose }) => {
      onStart(async () => {
        steps.push('started');
      });
      onClose(async () => {
        steps.push('closed');
      });
      return [];
    },
  });
  const app = await started({ plugins: [host], start: false });
  expect(app.all(Migrator)).toEqual([]);
  await app.close();
  expect(steps).toEqual(['closed']);
  const other = await started({ plugins: [host] });
  await other.close();
  expect(steps).toEqual(['closed', 'started', 'closed']);
});

test('gives an agent what it needs: one value of a port, or the list of all', async () => {
  const seen: unknown[] = [];
  const needy = defineAgent({
    name: 'needy',
    needs: { files: Files, sinks: Sinks, none: ToolSource },
    execute: (_input, { deps }) => {
      seen.push(deps.files, deps.sinks, deps.none);
      return 'done';
    },
  });
  const provide = [bind(Files, 'f'), bind(Sinks, 'one'), bind(Sinks, 'two')];
  const app = await started({ agents: [needy], provide });
  await app.run(needy, 'go');
  expect(seen).toEqual(['f', ['one', 'two'], []]);
  await app.close();
});

// ── agents against what is there ─────────────────────────────────────────────────────────────────

const model = (options?: ScriptOptions): Plugin => scriptedModel([], options);

function tool(name: string, given: Partial<Parameters<typeof defineTool>[0]> = {}): Tool {
  return defineTool({
    name,
    description: 'X.',
    input: Type.Object({ id: Type.String() }),
    effects: effects.readOnly(),
    execute: () => 'x',
    ...given,
  } as Parameters<typeof defineTool>[0]) as Tool;
}

test('names every agent that cannot work with what is there, at once', async () => {
  const needy = defineAgent({
    name: 'needy',
    needs: { files: Files, sinks: Sinks },
    tools: [tool('look', { needs: { shell: Shell, sinks: Sinks } })],
    toolSources: ['mcp', 'web'],
  });
  const twin = defineAgent({ name: 'needy', execute: () => 'x' });
  expect(await problemsOf({ plugins: [], agents: [needy, twin] })).toEqual([
    expect.stringMatching(
      /^agents\[0\] \(needy\): needs a model, and nothing is bound to the port "model"\. .*npm install @hexagent\/agent-vllm/,
    ),
    'agents[0] (needy).needs.files: needs "files", which nothing provides. Add provide: [bind(…)] for it, or a plugin that contributes "files".',
    'agents[0] (needy).tools "look".needs.shell: needs "shell", which nothing provides. Add provide: [bind(…)] for it, or a plugin that contributes "shell".',
    'agents[0] (needy).toolSources: names "mcp", which is not bound. Bound sources: none.',
    'agents[0] (needy).toolSources: names "web", which is not bound. Bound sources: none.',
    'agents[1] (needy): has the name of another agent. Give each agent a name of its own.',
  ]);
  const source = { id: 'web', open: async () => ({ tools: [], close: async () => undefined }) };
  expect(
    await problemsOf({
      plugins: [model()],
      provide: [bind(Files, 'f'), bind(Shell, 's'), bind(ToolSource, source)],
      agents: [needy],
    }),
  ).toEqual([
    'agents[0] (needy).toolSources: names "mcp", which is not bound. Bound sources: web.',
  ]);
});

test('two sources of one id are a problem: an agent could not say which it means', async () => {
  const source = (id: string) =>
    bind(ToolSource, { id, open: async () => ({ tools: [], close: async () => undefined }) });
  expect(
    await problemsOf({ plugins: [], provide: [source('mcp'), source('mcp')], agents: [] }),
  ).toEqual(['tool sources: have the id "mcp" more than once. Give each source an id of its own.']);
});

test('an agent with tools needs a model that takes them', async () => {
  const capabilities = { tools: false };
  const withTools = defineAgent({ name: 'a', tools: [tool('look')] });
  expect(await problemsOf({ plugins: [model({ capabilities })], agents: [withTools] })).toEqual([
    expect.stringMatching(
      /^agents\[0\] \(a\): has tools, and the model ".+" takes none\. Use a model that calls tools, or leave the tools out\.$/,
    ),
  ]);
  const without = [
    defineAgent({ name: 'a' }),
    defineAgent({ name: 'b', tools: [tool('look')], execute: () => 'x' }),
  ];
  await (await started({ plugins: [model({ capabilities })], agents: without })).close();
});

const durable = (name: string, tools: readonly Tool[] = []): AgentDefinition =>
  defineAgent({ name, recovery: 'action-boundary', tools });

test('a durable agent without a store does not start: what is missing and who brings it is named', async () => {
  const signalled = defineAgent({ name: 'b', accepts: ['user-message'] });
  const error = await failure({
    plugins: [model()],
    agents: [durable('a'), signalled, defineAgent({ name: 'c' })],
  });
  expect(error.code).toBe('PERSISTENCE_MISSING');
  expect(error.message).toBe(
    '"a", "b" must be durable, and nothing is bound to DurableStore: StateRepository, SignalRepository and EvidenceRepository are missing.',
  );
  expect(error.mend).toContain('npm install @hexagent/agent-kysely libsql');
  expect(error.mend).toContain('no in-memory fallback');
});

test('a missing model has a code of its own when that is all', async () => {
  const error = await failure({ plugins: [], agents: [plain, defineAgent({ name: 'a' })] });
  expect([error.code, error.mend]).toEqual([
    'MODEL_MISSING',
    expect.stringContaining('npm install @hexagent/agent-vllm'),
  ]);
});

test('a missing store is one problem among others, and none when it is there', async () => {
  const needy = defineAgent({ name: 'b', needs: { files: Files }, execute: () => 'x' });
  expect(await problemsOf({ plugins: [model()], agents: [durable('a'), needy] })).toEqual([
    expect.stringContaining('agents[1] (b).needs.files'),
    expect.stringMatching(
      /^agents: "a" must be durable, .*StateRepository, SignalRepository and EvidenceRepository/,
    ),
  ]);
  expect(await problemsOf({ plugins: [model()], agents: [needy] })).toHaveLength(1);
  const store = bind(Durability, memoryStore());
  await (await started({ plugins: [model()], provide: [store], agents: [durable('a')] })).close();
});

test('a durable agent takes a secret only where it can be sealed', async () => {
  const input = Type.Object({
    token: secret(Type.String()),
    inner: Type.Object({ key: secret(Type.String()) }),
  });
  const store = bind(Durability, memoryStore());
  const agents = [durable('a', [tool('login', { input }), tool('look')])];
  expect(await problemsOf({ plugins: [model()], provide: [store], agents })).toEqual([
    expect.stringMatching(
      /^agents\[0\] \(a\)\.tools "login": takes a secret \(.*token.*inner\.key.*\), the agent is durable, and no sealer is bound\. Bind a Sealer/,
    ),
  ]);
  const sealer = bind(Sealer, {
    seal: async (text: string) => text,
    open: async (text: string) => text,
  });
  await (await started({ plugins: [model()], provide: [store, sealer], agents })).close();
  const stateless = defineAgent({ name: 'a', tools: [tool('login', { input })] });
  await (await started({ plugins: [model()], agents: [stateless] })).close();
});

test('refuses a field that a config does not have', async () => {
  await expect(
    bootstrap({ plugins: [], agents: [], agent: [] } as Parameters<typeof bootstrap>[0]),
  ).rejects.toThrow('agent: is not a field of the config.');
});
