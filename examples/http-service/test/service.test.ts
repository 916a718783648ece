import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Envelope, RunSnapshot, Wait } from '@hexagent/agent-core';
import { textOf } from '@hexagent/agent-core';
import { expect, onTestFinished, test } from 'vitest';
import { framesOf } from './event-frames.ts';
import { KNOWN, type ServiceProcess, startService, workspaceFolder } from './service-process.ts';
import { shownText } from './transcript.ts';

const TASK = 'Why does slugify give "cr-me-br-l-e"? Fix it.';
const LIMIT = { timeout: 120_000 };

async function service(
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const started = await startService(folder, environment);
  onTestFinished(async () => {
    started.kill('SIGKILL');
    await started.ended;
  });
  return started;
}

function workspace(): string {
  const { folder, remove } = workspaceFolder();
  onTestFinished(remove);
  return folder;
}

function post(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...KNOWN, ...headers },
    body: JSON.stringify(body),
  });
}

const get = (url: string): Promise<Response> => fetch(url, { headers: KNOWN });
const jsonOf = async <T>(response: Promise<Response>): Promise<T> =>
  (await (await response).json()) as T;
const envelopeOf = ({ data }: { readonly data: string }): Envelope => JSON.parse(data) as Envelope;

test('a run asks, is approved, and changes the file once', LIMIT, async () => {
  const folder = workspace();
  const { url } = await service(folder);
  const file = `${url}/workspace/files/src%2Fslugify.ts`;
  const before = await jsonOf<{ text: string }>(get(file));
  expect(before.text).not.toContain('NFKD');

  const started = await post(`${url}/agents/code-assistant/runs`, { message: TASK });
  expect(started.status).toBe(202);
  const { run, waits } = (await started.json()) as {
    run: { runId: string; status: string };
    waits: readonly Wait[];
  };
  expect(run.status).toBe('interrupted');
  expect(waits.map(({ kind, prompt }) => [kind, prompt['tool']])).toEqual([
    ['approval', 'workspace.write'],
  ]);
  expect((await jsonOf<{ text: string }>(get(file))).text).toBe(before.text);

  const [wait] = waits;
  const answer = { decision: 'approve', digest: wait?.digest };
  expect((await post(`${url}/waits/${wait?.id}`, answer)).status).toBe(204);
  const events: Envelope[] = [];
  for await (const frame of framesOf(await get(`${url}/runs/${run.runId}/events`)))
    events.push(envelopeOf(frame));
  expect(events.at(-1)?.event).toMatchObject({
    type: 'run-finished',
    outcome: { kind: 'completed' },
  });
  expect(readFileSync(join(folder, 'src/slugify.ts'), 'utf8')).toContain('NFKD');
  expect((await jsonOf<{ text: string }>(get(file))).text).toContain('NFKD');
  const verified = await jsonOf<object>(get(`${url}/runs/${run.runId}/evidence/verify`));
  expect(verified).not.toHaveProperty('fault');
  const again = await post(`${url}/waits/${wait?.id}`, answer);
  expect(again.status).toBe(409);
  expect(await again.json()).toMatchObject({ code: 'WAIT_ALREADY_RESOLVED' });
});

test('a route of its own checks what it is given, and says what it has not', LIMIT, async () => {
  const { url } = await service(workspace());
  const lines = `${url}/workspace/files/src%2Fslugify.ts?fromLine=2&toLine=3`;
  expect(await jsonOf(get(lines))).toMatchObject({
    path: 'src/slugify.ts',
    fromLine: 2,
    toLine: 3,
    complete: true,
  });
  const answers = await Promise.all(
    ['src%2Fslugify.ts?fromLine=0', 'src%2Fno.ts', '..%2F..%2Fpasswd'].map(async (path) => {
      const response = await get(`${url}/workspace/files/${path}`);
      const { code } = (await response.json()) as { readonly code: string };
      return [response.status, code];
    }),
  );
  expect(answers).toEqual([
    [422, 'INPUT_INVALID'],
    [404, 'FILE_NOT_FOUND'],
    [404, 'FILE_NOT_FOUND'],
  ]);
});

test('whoever has no token, or a wrong one, sees and starts nothing', LIMIT, async () => {
  const { url } = await service(workspace());
  const doors = [
    ['GET', '/agents'],
    ['POST', '/agents/code-assistant/runs'],
    ['GET', '/runs'],
    ['GET', '/waits'],
    ['GET', '/workspace/files/README.md'],
    ['POST', '/ag-ui/code-assistant'],
  ] as const;
  const wrong = { authorization: 'Bearer not-the-token-of-the-tests' };
  for (const [method, path] of doors)
    for (const headers of [undefined, wrong]) {
      const body = method === 'POST' ? { body: JSON.stringify({ message: TASK }) } : {};
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
        ...body,
      });
      expect([path, response.status]).toEqual([path, 401]);
      expect(response.headers.get('www-authenticate')).toContain('Bearer');
      expect(await response.text()).toContain('PRINCIPAL_REQUIRED');
    }
  expect(await jsonOf(get(`${url}/runs`))).toEqual({ items: [] });
});

test('killed in the middle of a stream, it goes on after the next start, and a reader misses nothing', {
  timeout: 180_000,
}, async () => {
  const folder = workspace();
  const first = await service(folder, { HEXAGENT_PACE_MS: '60' });
  const stream = await post(
    `${first.url}/agents/code-assistant/runs`,
    { message: TASK, clientRunId: 'fix-slugify' },
    { accept: 'text/event-stream' },
  );
  const seen: Envelope[] = [];
  const broken = (async () => {
    for await (const frame of framesOf(stream)) {
      seen.push(envelopeOf(frame));
      // In the middle of the second answer of the model: one step is settled, one is open.
      const words = seen.filter(({ event }) => event.type === 'message-delta').length;
      if (words === 12) first.kill('SIGKILL');
    }
  })();
  await expect(broken).rejects.toThrow();
  expect(await first.ended).toEqual({ code: null, signal: 'SIGKILL' });

  const second = await service(folder);
  const [{ runId, seq: last } = expect.unreachable('nothing was seen')] = seen.slice(-1);
  // The same start again is the same run: its client need not know whether the first one came through.
  const repeated = await post(`${second.url}/agents/code-assistant/runs`, {
    message: TASK,
    clientRunId: 'fix-slugify',
  });
  expect(repeated.status).toBe(202);
  expect(await repeated.json()).toMatchObject({ run: { runId } });
  const rest: Envelope[] = [];
  const reconnected = await fetch(`${second.url}/runs/${runId}/events`, {
    headers: { ...KNOWN, 'last-event-id': String(last) },
  });
  for await (const frame of framesOf(reconnected)) rest.push(envelopeOf(frame));

  const all = [...seen, ...rest];
  const numbers = all.map(({ seq }) => seq);
  expect(numbers).toEqual([...new Set(numbers)].sort((one, two) => one - two));
  expect(rest.map(({ event }) => event.type)).toContain('rewound');
  expect(rest.at(-1)?.event.type).toBe('run-paused');
  const { messages } = await jsonOf<RunSnapshot>(get(`${second.url}/runs/${runId}/snapshot`));
  const said = messages.flatMap(({ message }) =>
    message.role === 'assistant' ? [textOf(message.parts)] : [],
  );
  expect(shownText(all)).toBe(said.join(''));
  expect(await jsonOf<{ items: unknown[] }>(get(`${second.url}/runs`))).toMatchObject({
    items: [{ runId }],
  });
});

test('AG-UI serves the same agent with the same token', LIMIT, async () => {
  const { url } = await service(workspace());
  const response = await post(
    `${url}/ag-ui/code-assistant`,
    {
      threadId: 'thread-1',
      runId: 'run-1',
      messages: [{ id: 'message-1', role: 'user', content: TASK }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    },
    { accept: 'text/event-stream' },
  );
  expect(response.status).toBe(200);
  const events: { type: string; outcome?: { type: string } }[] = [];
  for await (const { data } of framesOf(response)) events.push(JSON.parse(data));
  expect(events[0]?.type).toBe('RUN_STARTED');
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'interrupt' } });
  const { items } = await jsonOf<{ items: readonly unknown[] }>(get(`${url}/waits`));
  expect(items).toHaveLength(1);
});

test('Ctrl-C ends it in order: a stream is told to come again', LIMIT, async () => {
  const { url, kill, ended, output } = await service(workspace(), { HEXAGENT_PACE_MS: '200' });
  const stream = await post(
    `${url}/agents/code-assistant/runs`,
    { message: TASK },
    { accept: 'text/event-stream' },
  );
  kill('SIGINT');
  kill('SIGINT'); // The terminal and npm both tell it.
  expect(await stream.text()).toMatch(/^: closing: come again with the last id$/m);
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(output()).toContain('Ended.');
});

test('Ctrl-C again and again ends it, drained or at once', LIMIT, async () => {
  const { url, kill, ended, output } = await service(workspace(), { HEXAGENT_PACE_MS: '60000' });
  const held = post(`${url}/agents/code-assistant/runs`, { message: TASK }).catch(() => undefined);
  const started = async () => (await jsonOf<{ items: unknown[] }>(get(`${url}/runs`))).items.length;
  while ((await started()) === 0);
  const pressing = setInterval(() => kill('SIGINT'), 100);
  const end = await ended;
  clearInterval(pressing);
  // A start is answered when the host closes, so the drain may be over before the second press counts; and a press may meet a
  // process on its way out, which does not listen any more.
  const code = output().includes('Ended.') ? 0 : 130;
  expect([
    { code, signal: null },
    { code: null, signal: 'SIGINT' },
  ]).toContainEqual(end);
  await held;
});

test('it says what is wrong when its port is taken', LIMIT, async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const address = taken.address();
  const port = typeof address === 'object' ? String(address?.port) : '';
  const starting = startService(workspace(), { HEXAGENT_PORT: port });
  await expect(starting).rejects.toThrow(/ended with 1:\nHOST_LISTEN_FAILED: .*127\.0\.0\.1/);
});
