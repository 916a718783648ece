import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  AgentError,
  bind,
  type ModelConclusion,
  type ModelFinding,
  ModelProbe,
} from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { commandLine, configFolder } from '../../test/command-line.ts';

const finding = (name: string, status: ModelFinding['status'], detail: string): ModelFinding => ({
  type: 'finding',
  name,
  status,
  detail,
});
const CONCLUSION: ModelConclusion = { type: 'conclusion', model: 'm', code: 'vllm({\n})' };

const probing = (...events: readonly (ModelFinding | ModelConclusion)[]): ModelProbe => ({
  id: 'fake',
  async *probe({ signal }) {
    for (const event of events) {
      signal.throwIfAborted();
      yield event;
    }
  },
});

test('prints what was found and what follows from it; what a server cannot do is no error', async () => {
  const probe = probing(
    finding('tools', 'yes', 'get_weather()'),
    finding('named tool', 'no', 'it called nothing\u001b[31m'),
    finding('overflow', 'unknown', 'the window is not known'),
    CONCLUSION,
  );
  const line = await commandLine(['doctor', '--model'], {
    app: { bindings: [bind(ModelProbe, probe)] },
  });
  expect(await line.done).toBe(0);
  expect(line.stdout()).toContain('✓ yes     tools: get_weather()\n');
  expect(line.stdout()).toContain('✗ no      named tool: it called nothing');
  expect(line.stdout()).toContain('? unknown overflow: the window is not known\n');
  expect(line.stdout()).toContain('For m use:\n\n  vllm({\n  })\n');
  expect(line.configs[0]?.start).toBe(false);
});

test('--json has a record for each', async () => {
  const probe = probing(finding('tools', 'yes', ''), CONCLUSION);
  const line = await commandLine(['doctor', '--model', '--json'], {
    app: { bindings: [bind(ModelProbe, probe)] },
  });
  expect(await line.done).toBe(0);
  expect(line.records()).toEqual([
    { type: 'finding', provider: 'fake', name: 'tools', status: 'yes', detail: '' },
    { type: 'conclusion', provider: 'fake', model: 'm', code: 'vllm({\n})' },
  ]);
});

test('a server that is not there is an error that says what to do', async () => {
  const probe: ModelProbe = {
    id: 'fake',
    async *probe() {
      yield* [];
      throw new AgentError('MODEL_UNREACHABLE', { message: 'nobody listens', mend: 'Start it.' });
    },
  };
  const line = await commandLine(['doctor', '--model'], {
    app: { bindings: [bind(ModelProbe, probe)] },
  });
  expect(await line.done).toBe(1);
  expect(line.stderr()).toContain('nobody listens');
});

test('a configuration whose models cannot look at their servers', async () => {
  const line = await commandLine(['doctor', '--model']);
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain('No model of this configuration');
});

/** A plugin as npm installs one, which tells how it was asked. */
async function installed(contributes: readonly string[]): Promise<string> {
  const cwd = await configFolder({});
  const write = async (name: string, code: string): Promise<void> => {
    const folder = join(cwd, 'node_modules', name);
    await mkdir(folder, { recursive: true });
    const content = {
      name,
      version: '1.0.0',
      type: 'module',
      hexagent: { plugin: './index.js#plugin' },
    };
    await writeFile(join(folder, 'package.json'), JSON.stringify(content));
    await writeFile(join(folder, 'index.js'), code);
  };
  await write('broken', 'export const plugin = 1;');
  await write('elsewhere', codeOf('elsewhere', { contributes: ['model-probe'], options: {} }));
  const options = { type: 'object', properties: { baseUrl: { type: 'string' } } };
  await write('server', codeOf('server', { contributes, options }));
  return cwd;
}

function codeOf(name: string, part: object): string {
  const manifest = { name, version: '1.0.0', contract: 1, requires: [], ...part };
  return `const manifest = ${JSON.stringify(manifest)};
    const probe = (options) => ({
      id: 'server',
      async *probe() {
        yield { type: 'finding', name: 'asked', status: 'yes', detail: JSON.stringify(options) };
        yield { type: 'conclusion', model: 'm', code: 'server()' };
      },
    });
    export const plugin = Object.assign(
      (options) => ({
        manifest,
        options,
        setup: async () => [{ port: { id: 'model-probe', arity: 'many' }, value: probe(options) }],
      }),
      { manifest },
    );`;
}

test('--base-url needs no configuration: an installed plugin that takes an address is asked', async () => {
  const line = await commandLine(
    ['doctor', '--model', '--base-url', 'http://m/v1', '--api-key-env', 'KEY'],
    { cwd: await installed(['model-probe']), env: { KEY: 'k' } },
  );
  expect(await line.done).toBe(0);
  expect(line.stdout()).toContain('asked: {"baseUrl":"http://m/v1","apiKey":"k"}');
  expect(line.configs).toEqual([]);
  const alone = await commandLine(['doctor', '--base-url', 'http://m/v1'], {
    cwd: await installed(['model-probe']),
  });
  expect(await alone.done).toBe(0);
  expect(alone.stdout()).toContain('asked: {"baseUrl":"http://m/v1"}');
});

test('what does not go together is a wrong command line', async () => {
  const refused = async (...options: readonly string[]): Promise<string> => {
    const line = await commandLine(['doctor', ...options], { cwd: await installed(['model']) });
    expect(await line.done).toBe(2);
    return line.stderr();
  };
  expect(await refused('--base-url', 'http://m/v1')).toContain('No installed plugin');
  expect(await refused('--model', '--api-key-env', 'KEY')).toContain('without --base-url');
  expect(await refused('--base-url', 'http://m', '--api-key-env', 'KEY')).toContain('has no KEY');
  expect(await refused('--no-model', '--base-url', 'http://m')).toContain('--no-model');
});
