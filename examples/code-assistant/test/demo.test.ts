import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { CallId, Message } from '@hexagent/agent-core';
import { type Served, serveModel, type WireMessage } from '@hexagent/example-scripted-server';
import { expect, onTestFinished, test } from 'vitest';
import { fixSlugify } from '../src/demo/fix-slugify.ts';
import { turnOf } from '../src/demo/transcript.ts';

const CLI = createRequire(import.meta.url).resolve('@hexagent/agent-cli/package.json');

/** The very command of a newcomer, without installing and building. */
async function demo(environment: NodeJS.ProcessEnv): Promise<{ code: unknown; output: string }> {
  expect(existsSync(join(dirname(CLI), 'dist/bin.js')), 'built by `npm run build`').toBe(true);
  const child = spawn('npm', ['run', '--silent', 'demo'], {
    cwd: join(import.meta.dirname, '..'),
    env: { ...process.env, HEXAGENT_MODEL_URL: '', ...environment },
    shell: process.platform === 'win32',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [code] = await once(child, 'close');
  return { code, output };
}

const LIMIT = { timeout: 120_000 };

/** Each of these lines, in this order. */
function expectInOrder(output: string, lines: readonly (string | RegExp)[]): void {
  let rest = output;
  for (const line of lines) {
    const found = typeof line === 'string' ? rest.indexOf(line) : rest.search(line);
    expect(found, `${line} in what follows:\n${rest}`).toBeGreaterThanOrEqual(0);
    rest = rest.slice(found);
  }
}

test(
  'reads, asks, leaves; another process approves and goes on; written once; proven',
  LIMIT,
  async () => {
    const { code, output } = await demo({});
    expectInOrder(output, [
      'Model      scripted, offline',
      '$ hexagent run code-assistant',
      'I look for the place that defines `slugify`.',
      'I propose this change:',
      'is paused',
      '$ hexagent --json waits list',
      'approval',
      '$ hexagent waits show',
      '"path": "src/slugify.ts"',
      "+    .normalize('NFKD')",
      '$ hexagent waits approve',
      'creme-brulee',
      "+    .replace(/\\p{M}+/gu, '')",
      'Writes before the approval: 0; after it: 1; resumed once more: 1.',
      '$ hexagent --json evidence',
      /The chain of \d+ rows holds/,
      'Done in',
    ]);
    expect(code).toBe(0);
    expect(output).not.toContain('\u001b');
  },
);

test('runs the same agent on a server that speaks the OpenAI protocol', LIMIT, async () => {
  const model = await serveModel((request) => {
    const { text, calls } = fixSlugify(
      turnOf(request.messages.flatMap((one) => neutral(one, request))),
    );
    return { text, calls: calls.map((call) => ({ ...call, name: onTheWire(call.name, request) })) };
  });
  onTestFinished(() => model.close());
  const { code, output } = await demo({
    HEXAGENT_MODEL_URL: model.url,
    HEXAGENT_MODEL: 'scripted',
    HEXAGENT_API_KEY: 'key-of-the-test',
  });
  expectInOrder(output, [
    `Model      scripted at ${model.url}`,
    'is paused',
    '$ hexagent waits approve',
    'Writes before the approval: 0; after it: 1; resumed once more: 1.',
    /The chain of \d+ rows holds/,
  ]);
  expect(code).toBe(0);
  expect(new Set(model.requests.map(({ authorization }) => authorization))).toEqual(
    new Set(['Bearer key-of-the-test']),
  );
  expect(output).not.toContain('key-of-the-test');
});

test('says what is wrong when there is no server', LIMIT, async () => {
  const { code, output } = await demo({ HEXAGENT_MODEL_URL: 'http://127.0.0.1:9/v1' });
  expect(code).toBe(1);
  expect(output).toContain('MODEL_UNREACHABLE');
  expect(output).toContain('The run did not complete');
});

const letters = (name: string): string => name.replace(/[^a-z]/g, '');

/** The wire has its own form of a name; the letters stay. */
function onTheWire(name: string, { tools }: Served): string {
  return tools.find((tool) => letters(tool) === letters(name)) ?? name;
}

function neutral(message: WireMessage, { messages }: Served): readonly Message[] {
  const text = typeof message.content === 'string' ? message.content : '';
  if (message.role === 'user') {
    return [{ role: 'user', origin: 'user', parts: [{ type: 'text', text }] }];
  }
  if (message.role !== 'tool') return [];
  const callId = (message.tool_call_id ?? '') as CallId;
  const asked = messages
    .flatMap(({ tool_calls = [] }) => tool_calls)
    .findLast(({ id }) => id === message.tool_call_id);
  const toolName = (asked?.function.name ?? '').replace(/[^a-z]+/, '.');
  return [
    {
      role: 'assistant',
      origin: 'model',
      parts: [{ type: 'tool-call', callId, toolName, input: {} }],
    },
    {
      role: 'tool',
      origin: 'tool',
      parts: [{ type: 'tool-result', callId, outcome: 'ok', content: [{ type: 'text', text }] }],
    },
  ];
}
