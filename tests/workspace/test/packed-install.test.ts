import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { serveModel } from '../../../examples/scripted-server/src/index.ts';
import { type Ran, run, scratch, WORKSPACE } from './tree.ts';

const MINUTES = 60_000;
const PACKAGES = readdirSync(join(WORKSPACE, 'packages')).sort();
let tarballs = '';

/** What `pnpm pack` makes of each package, which is what would be published. */
beforeAll(() => {
  tarballs = mkdtempSync(join(tmpdir(), 'hexagent-packed-'));
  const pnpm = join(WORKSPACE, 'node_modules/.bin/pnpm');
  for (const name of PACKAGES) {
    const folder = join(WORKSPACE, 'packages', name);
    const packed = run(pnpm, ['pack', '--out', join(tarballs, `${name}.tgz`)], { cwd: folder });
    if (packed.code !== 0) throw new Error(`${name} does not pack:\n${packed.output}`);
  }
}, 2 * MINUTES);

afterAll(() => rmSync(tarballs, { recursive: true, force: true }));

/** An empty folder with the packed packages, and others from the registry, installed by plain npm. */
function installed(packages: readonly string[], others: readonly string[] = []): string {
  const folder = scratch();
  writeFileSync(
    join(folder, 'package.json'),
    '{ "name": "stranger", "private": true, "type": "module" }',
  );
  const files = packages.map((name) => join(tarballs, `${name}.tgz`));
  const npm = run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--loglevel=error', ...files, ...others],
    {
      cwd: folder,
    },
  );
  if (npm.code !== 0) throw new Error(`npm install failed:\n${npm.output}`);
  return folder;
}

/** Runs a bootstrap file; asynchronous, since its model may be a server of this process. */
function runFile(
  folder: string,
  text: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  writeFileSync(join(folder, 'main.js'), text);
  return new Promise((done) => {
    const child = spawn(process.execPath, ['main.js'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        output += data;
      });
    }
    child.on('close', (code) => done({ code, output }));
  });
}

/** Each package that npm put there, `@scope/name` included. */
function installedNames(folder: string): readonly string[] {
  const top = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
  return top.flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(join(folder, 'node_modules', name)).map((inner) => `${name}/${inner}`)
      : [name],
  );
}

describe('the packed packages', () => {
  test('each carry the licence, built files and their sources, and no test', {
    timeout: MINUTES,
  }, () => {
    for (const name of PACKAGES) {
      const { output } = run('tar', ['-tzf', join(tarballs, `${name}.tgz`)], { cwd: tarballs });
      const files = output.trim().split('\n');
      expect(files, name).toContain('package/LICENSE');
      expect(files, name).toContain('package/README.md');
      const { publishConfig } = JSON.parse(
        readFileSync(join(WORKSPACE, 'packages', name, 'package.json'), 'utf8'),
      );
      for (const entry of Object.values<string>(publishConfig.exports['.'])) {
        expect(files, name).toContain(join('package', entry));
      }
      expect(files, name).toContain('package/src/index.ts');
      expect(
        files.filter((file) => /\.test(-d)?\.|tsbuildinfo|\.tgz$/.test(file)),
        name,
      ).toEqual([]);
    }
  });

  test('core alone brings no other package and runs a stateless agent', {
    timeout: 3 * MINUTES,
  }, async () => {
    const folder = installed(['agent-core']);
    expect(installedNames(folder)).toEqual(['@hexagent/agent-core']);
    const { code, output } = await runFile(
      folder,
      `import { bind, bootstrap, defineAgent, definePlugin, defineTool, effects, Model } from '@hexagent/agent-core';

let asked = 0;
const usage = { inputTokens: 1, outputTokens: 1 };
const model = {
  id: 'inline',
  capabilities: () => ({ tools: true, reasoning: false, structuredOutput: 'none', inputModalities: ['text'] }),
  async *stream(request) {
    asked += 1;
    if (asked === 1) {
      yield [
        { type: 'tool-call-start', index: 0, name: request.tools[0].name },
        { type: 'tool-call-delta', index: 0, delta: '{"a":2,"b":40}' },
        { type: 'finish', reason: 'tool-calls', usage, model: 'inline' },
      ];
    } else {
      const result = JSON.stringify(request.messages.at(-1));
      yield [
        { type: 'text', text: result.includes('42') ? 'It is 42.' : result },
        { type: 'finish', reason: 'stop', usage, model: 'inline' },
      ];
    }
  },
};
const inline = definePlugin({
  manifest: { name: 'inline', version: '1.0.0', contract: 1, contributes: [Model], requires: [], options: { type: 'object' } },
  setup: () => [bind(Model, model)],
});
const add = defineTool({
  name: 'math.add',
  description: 'Add two numbers.',
  input: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  effects: effects.readOnly(),
  execute: ({ a, b }) => a + b,
});
const assistant = defineAgent({ name: 'assistant', instructions: 'Add.', tools: [add] });
const app = await bootstrap({ plugins: [inline({})], agents: [assistant] });
const result = await app.run(assistant, 'What is 2 + 40?');
console.log(result.kind, result.text);
await app.close();
`,
    );
    expect(output).toContain('completed It is 42.');
    expect(code).toBe(0);
  });

  test('core, agent-vllm and agent-kysely run a durable agent on a SQLite file', {
    timeout: 4 * MINUTES,
  }, async () => {
    const folder = installed(['agent-core', 'agent-vllm', 'agent-kysely'], ['libsql']);
    expect(installedNames(folder)).not.toContain('pg');
    const model = await serveModel(() => ({ text: 'Paid.' }));
    onTestFinished(() => model.close());
    const { code, output } = await runFile(
      folder,
      `import { bootstrap, defineAgent } from '@hexagent/agent-core';
import { kyselyStore } from '@hexagent/agent-kysely';
import { vllm } from '@hexagent/agent-vllm';

const cashier = defineAgent({ name: 'cashier', recovery: 'action-boundary', instructions: 'Say paid.' });
const app = await bootstrap({
  plugins: [vllm({ baseUrl: process.env.HEXAGENT_MODEL_URL }), kyselyStore({ url: 'file:shop.db' })],
  agents: [cashier],
});
const result = await app.run(cashier, { message: 'Charge 12 euros.', conversationId: 'order-17' });
const evidence = await app.runs.evidence(result.runId, {}, app.local('local'));
console.log(result.kind, result.text, evidence.length > 0 ? 'with evidence' : 'without evidence');
await app.close();
`,
      { HEXAGENT_MODEL_URL: model.url },
    );
    expect(output).toContain('completed Paid. with evidence');
    expect(code).toBe(0);
    expect(existsSync(join(folder, 'shop.db'))).toBe(true);
  });

  test('a missing driver is named with its install command', { timeout: 3 * MINUTES }, async () => {
    const folder = installed(['agent-core', 'agent-kysely']);
    const { code, output } = await runFile(
      folder,
      `import { bootstrap } from '@hexagent/agent-core';
import { kyselyStore } from '@hexagent/agent-kysely';
await bootstrap({ plugins: [kyselyStore({ url: 'file:shop.db' })], agents: [] });
`,
    );
    expect(code).not.toBe(0);
    expect(output).toContain('npm install libsql');
  });

  test('publish no workspace or catalog reference', () => {
    for (const name of PACKAGES) {
      const { output } = run(
        'tar',
        ['-xzOf', join(tarballs, `${name}.tgz`), 'package/package.json'],
        {
          cwd: tarballs,
        },
      );
      const { dependencies = {}, peerDependencies = {} } = JSON.parse(output);
      expect(JSON.stringify({ dependencies, peerDependencies }), name).not.toMatch(
        /workspace:|catalog:/,
      );
    }
  });
});
