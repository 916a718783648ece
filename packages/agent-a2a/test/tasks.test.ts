import { AgentError, runIdOf } from '@hexagent/agent-core';
import { describe, expect, test } from 'vitest';
import { a2aMount } from '../src/a2a-mount.ts';
import {
  cancelled,
  completed,
  failed,
  fakeGateway,
  paused,
  type Script,
  waitOf,
} from './fake-gateway.ts';
import { agentLike, ask, message, rpc } from './served.ts';

const mount = a2aMount({ agent: agentLike() });
const send = (
  gateway: ReturnType<typeof fakeGateway>,
  text: string,
  rest: object = {},
  more: object = {},
) => rpc(mount, gateway, 'SendMessage', { message: message(text, rest), ...more });
const answering: Script = () => [{ type: 'run-started' }, completed('42')];

describe('SendMessage', () => {
  test('starts a run and answers with its task: the text is an artifact', async () => {
    const gateway = fakeGateway(answering);
    const { id, result } = await send(gateway, 'how many?', {
      contextId: 'c1',
      messageId: 'first',
      metadata: { ticket: 7, from: 'me' },
    });
    expect(id).toBe(7);
    expect(result?.task).toEqual({
      id: 'r1',
      contextId: 'c1',
      status: { state: 'TASK_STATE_COMPLETED', timestamp: '1970-01-01T00:00:00.002Z' },
      artifacts: [
        { artifactId: 'answer', name: 'answer', parts: [{ text: '42', mediaType: 'text/plain' }] },
      ],
      history: [
        {
          messageId: 'first',
          contextId: 'c1',
          taskId: 'r1',
          role: 'ROLE_USER',
          parts: [{ text: 'how many?' }],
          metadata: { ticket: 7, from: 'me' },
        },
      ],
    });
    expect(gateway.entered[0]).toEqual({
      door: 'start',
      args: [
        'echo',
        {
          message: [{ type: 'text', text: 'how many?' }],
          conversationId: 'c1',
          metadata: { ticket: '7', from: 'me' },
        },
        'a2a:echo:u1:first',
      ],
    });
  });

  test('makes a context when the client names none, and finds the task again for a repeated message', async () => {
    const gateway = fakeGateway(answering);
    const first = await send(gateway, 'x', { messageId: 'same' });
    const second = await send(gateway, 'x', { messageId: 'same' });
    expect(first.result?.task?.contextId).toMatch(/^[0-9a-f-]{36}$/);
    expect(second.result?.task?.id).toBe('r1');
    expect(second.result?.task?.contextId).toBe(first.result?.task?.contextId);
  });

  test('a stateless agent has tasks too, for as long as the request', async () => {
    const gateway = fakeGateway(answering, { stateless: true });
    const { result } = await send(gateway, 'x', { contextId: 'c1' });
    expect(result?.task).toMatchObject({
      id: 'r1',
      contextId: 'c1',
      status: { state: 'TASK_STATE_COMPLETED' },
    });
    const fleeting = a2aMount({ agent: agentLike({ durable: false }) });
    const atOnce = { message: message('x'), configuration: { returnImmediately: true } };
    expect((await rpc(fleeting, gateway, 'SendMessage', atOnce)).error?.code).toBe(-32004);
    gateway.fail('get', new Error('not about being kept'));
    expect((await send(gateway, 'x')).error?.code).toBe(-32603);
  });

  test('typed output is data beside the text; artifacts of tools stand before it, the last of an id', async () => {
    const artifact = (id: string, text: string) =>
      ({ type: 'artifact', artifactId: id, parts: [{ type: 'text', text }] }) as const;
    const gateway = fakeGateway(() => [
      { ...artifact('report', 'draft'), name: 'Report' },
      {
        type: 'artifact',
        artifactId: 'other',
        parts: [
          { type: 'data', data: { a: 1 } },
          {
            type: 'media',
            mediaType: 'image/png',
            source: { kind: 'url', url: 'https://x.example/i.png' },
          },
          { type: 'media', mediaType: 'image/png', source: { kind: 'inline', base64: 'AQID' } },
          { type: 'media', mediaType: 'image/png', source: { kind: 'blob', ref: 'b1' } },
        ],
      },
      artifact('report', 'final'),
      completed('done', {}),
    ]);
    const { result } = await send(gateway, 'x');
    expect(
      result?.task?.artifacts?.map(({ artifactId, parts }) => [
        artifactId,
        parts.map(({ mediaType: _type, ...part }) => part),
      ]),
    ).toEqual([
      ['report', [{ text: 'final' }]],
      [
        'other',
        [
          { data: { a: 1 } },
          { url: 'https://x.example/i.png' },
          { raw: 'AQID' },
          { data: { type: 'media', mediaType: 'image/png', source: { kind: 'blob', ref: 'b1' } } },
        ],
      ],
      ['answer', [{ text: 'done' }, { data: {} }]],
    ]);
  });

  test('a failed run is a failed task with the words of the error, a cancelled one is canceled', async () => {
    const { result } = await send(
      fakeGateway(() => [failed]),
      'x',
    );
    expect(result?.task?.status?.state).toBe('TASK_STATE_FAILED');
    expect(result?.task?.status?.message?.parts).toEqual([
      { text: 'It broke. Try later.', mediaType: 'text/plain' },
      {
        data: { error: { code: 'MODEL_FAILED', message: 'It broke.', mend: 'Try later.' } },
        mediaType: 'application/json',
      },
    ]);
    expect(result?.task?.artifacts).toBeUndefined();
    const stopped = await send(
      fakeGateway(() => [cancelled('enough')]),
      'x',
    );
    expect(stopped.result?.task?.status).toMatchObject({
      state: 'TASK_STATE_CANCELED',
      message: { parts: [{ text: 'enough' }] },
    });
    const silent = await send(
      fakeGateway(() => [cancelled()]),
      'x',
    );
    expect(silent.result?.task?.status?.message).toBeUndefined();
    expect(
      (
        await send(
          fakeGateway(() => [completed('')]),
          'x',
        )
      ).result?.task?.artifacts,
    ).toBeUndefined();
  });

  test('returns at once when asked to, without history when asked to', async () => {
    const gateway = fakeGateway(() => [{ type: 'run-started' }]);
    const configuration = { returnImmediately: true, historyLength: 0 };
    const { result } = await send(gateway, 'x', {}, { configuration });
    expect(result?.task?.status?.state).toBe('TASK_STATE_SUBMITTED');
    expect(result?.task?.history).toBeUndefined();
  });

  test('a client that leaves gets no answer, and the run goes on', async () => {
    const gateway = fakeGateway(() => [{ type: 'run-started' }]);
    const leaving = new AbortController();
    const answer = ask(mount, '/a2a', {
      gateway,
      signal: leaving.signal,
      method: 'POST',
      headers: { 'a2a-version': '1.0' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: message('x') },
      }),
    });
    while (!gateway.entered.some(({ door }) => door === 'get'))
      await new Promise((resolve) => setImmediate(resolve));
    leaving.abort(new Error('left'));
    await answer;
    expect(gateway.entered.map(({ door }) => door)).not.toContain('cancel');
    gateway.emit(runIdOf('r1'), [completed('later')]);
    const { result } = await rpc(mount, gateway, 'GetTask', { id: 'r1' });
    expect(result?.status?.state).toBe('TASK_STATE_COMPLETED');
  });

  test('files are not taken, and neither are push configs', async () => {
    const gateway = fakeGateway(answering);
    for (const part of [{ url: 'https://x.example/a.pdf' }, { raw: 'AQID' }]) {
      expect((await send(gateway, '', { parts: [part] })).error?.code).toBe(-32005);
    }
    const configuration = { taskPushNotificationConfig: { url: 'https://x.example' } };
    expect((await send(gateway, 'x', {}, { configuration })).error?.code).toBe(-32003);
    expect(gateway.entered).toEqual([]);
  });
});

describe('a paused task', () => {
  const approval = (n: number) =>
    waitOf(runIdOf('r1'), n, {
      kind: 'approval',
      allowed: ['approve', 'reject', 'modify'],
      prompt: { toolName: 'files.write', input: { path: 'a' } },
    });
  const input = waitOf(runIdOf('r1'), 9, {
    kind: 'input',
    allowed: ['answer', 'cancel'],
    prompt: { message: 'Which city?' },
  });
  const asking =
    (...waits: ReturnType<typeof approval>[]): Script =>
    ({ door, payload }) =>
      door === 'start'
        ? [{ type: 'run-started' }, paused(waits, 'I will write.')]
        : [completed(JSON.stringify(payload))];

  test('asks: what was said so far, the question in words, and what a program needs to answer', async () => {
    const { result } = await send(fakeGateway(asking(approval(1))), 'write');
    expect(result?.task?.status?.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(
      result?.task?.status?.message?.parts.map(({ mediaType: _type, ...part }) => part),
    ).toEqual([
      { text: 'I will write.' },
      { text: 'Waiting for approval of files.write: approve, reject, modify.' },
      {
        data: {
          waitId: 'r1.1.0.w1',
          kind: 'approval',
          prompt: { toolName: 'files.write', input: { path: 'a' } },
          allowed: ['approve', 'reject', 'modify'],
          digest: 'd1',
        },
      },
    ]);
  });

  test('waits for credentials only: auth-required; for an unnamed thing: says its kind', async () => {
    const auth = waitOf(runIdOf('r1'), 1, {
      kind: 'auth',
      allowed: ['answer'],
      prompt: { question: 'Log in.' },
    });
    const { result } = await send(
      fakeGateway(() => [paused([auth])]),
      'x',
    );
    expect(result?.task?.status).toMatchObject({
      state: 'TASK_STATE_AUTH_REQUIRED',
      message: { parts: [{ text: 'Log in.' }, {}] },
    });
    const timer = waitOf(runIdOf('r1'), 1, {
      kind: 'timer',
      allowed: ['answer'],
      prompt: { at: 'noon' },
    });
    const both = await send(
      fakeGateway(() => [paused([auth, timer])]),
      'x',
    );
    expect(both.result?.task?.status?.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(both.result?.task?.status?.message?.parts[2]?.text).toBe('Waiting for timer: answer.');
  });

  test('a decision in a data part answers it, and the same task goes on', async () => {
    const gateway = fakeGateway(asking(approval(1)));
    const first = await send(gateway, 'write');
    const { result } = await send(gateway, '', {
      taskId: 'r1',
      contextId: first.result?.task?.contextId,
      parts: [{ text: 'yes' }, { data: { decision: 'approve', digest: 'd1', comment: 'ok' } }],
    });
    expect(result?.task).toMatchObject({ id: 'r1', status: { state: 'TASK_STATE_COMPLETED' } });
    expect(gateway.entered.find(({ door }) => door === 'resolve')?.args).toEqual([
      'r1.1.0.w1',
      { decision: 'approve', digest: 'd1', comment: 'ok' },
    ]);
  });

  test('several questions are answered by their ids, in one message', async () => {
    const gateway = fakeGateway(({ door }) =>
      door === 'start' ? [paused([approval(1), approval(2)])] : [completed('done')],
    );
    await send(gateway, 'write');
    const { error } = await send(gateway, '', {
      taskId: 'r1',
      parts: [{ data: { decision: 'approve' } }],
    });
    expect(error).toMatchObject({ code: -32602 });
    expect(error?.message).toContain('r1.1.0.w1 (approve | reject | modify) and r1.1.0.w2');
    const both = [
      { data: { waitId: 'r1.1.0.w2', decision: 'reject' } },
      { data: { waitId: 'r1.1.0.w1', decision: 'modify', input: { path: 'b' } } },
    ];
    await send(gateway, '', { taskId: 'r1', parts: both });
    expect(
      gateway.entered.filter(({ door }) => door === 'resolve').map(({ args }) => args),
    ).toEqual([
      ['r1.1.0.w2', { decision: 'reject' }],
      ['r1.1.0.w1', { decision: 'modify', input: { path: 'b' } }],
    ]);
  });

  test('consent is never guessed from a text, nor an unknown decision taken', async () => {
    const gateway = fakeGateway(asking(approval(1)));
    await send(gateway, 'write');
    for (const parts of [
      [{ text: 'approve' }],
      [{ data: { decision: 'answer' } }],
      [{ data: { decision: 'maybe' } }],
    ]) {
      const { error } = await send(gateway, '', { taskId: 'r1', parts });
      expect(error).toMatchObject({ code: -32602 });
      expect(error?.message).toContain('r1.1.0.w1 (approve | reject | modify)');
    }
    expect(gateway.entered.map(({ door }) => door)).not.toContain('resolve');
  });

  test('a question for input takes the text, or the data, as it is', async () => {
    for (const [part, value] of [
      [{ text: 'Seoul' }, 'Seoul'],
      [{ data: { city: 'Seoul' } }, { city: 'Seoul' }],
    ] as const) {
      const gateway = fakeGateway(asking(input));
      await send(gateway, 'x');
      await send(gateway, '', { taskId: 'r1', parts: [part] });
      expect(gateway.entered.find(({ door }) => door === 'resolve')?.args).toEqual([
        'r1.1.0.w9',
        { decision: 'answer', value },
      ]);
    }
  });

  test('a task in another context, of another agent or another tenant, or one that is over, takes nothing', async () => {
    const gateway = fakeGateway(asking(input));
    await send(gateway, 'x', { contextId: 'c1' });
    expect((await send(gateway, 'y', { taskId: 'r1', contextId: 'c2' })).error?.code).toBe(-32602);
    const stranger = await rpc(
      mount,
      gateway,
      'SendMessage',
      { message: message('y', { taskId: 'r1' }) },
      { 'x-tenant': 't2' },
    );
    expect(stranger.error?.code).toBe(-32001);
    const other = a2aMount({ agent: agentLike({ name: 'other' }) });
    expect((await rpc(other, gateway, 'GetTask', { id: 'r1' })).error?.code).toBe(-32001);
    await send(gateway, 'Seoul', { taskId: 'r1' });
    const over = await send(gateway, 'more', { taskId: 'r1' });
    expect(over.error).toMatchObject({
      code: -32004,
      message: expect.stringContaining('completed'),
    });
  });

  test('a task that works is told: the message is a signal with a key of its own', async () => {
    const gateway = fakeGateway(({ door }) =>
      door === 'start' ? [{ type: 'run-started' }] : [completed('heard')],
    );
    await send(gateway, 'x', {}, { configuration: { returnImmediately: true } });
    const { result } = await send(gateway, 'and this', { taskId: 'r1', messageId: 'm-told' });
    expect(result?.task?.status?.state).toBe('TASK_STATE_COMPLETED');
    expect(gateway.entered.find(({ door }) => door === 'signal')?.args).toEqual([
      'r1',
      { kind: 'user-message', payload: { text: 'and this' }, dedupeKey: 'a2a:m-told' },
    ]);
  });
});

describe('GetTask and CancelTask', () => {
  test('show a task that works, waits or is over', async () => {
    const gateway = fakeGateway(() => []);
    await send(gateway, 'x', { contextId: 'c1' }, { configuration: { returnImmediately: true } });
    const state = async () =>
      (await rpc(mount, gateway, 'GetTask', { id: 'r1' })).result?.status?.state;
    expect(await state()).toBe('TASK_STATE_SUBMITTED');
    gateway.emit(runIdOf('r1'), [{ type: 'run-started' }]);
    expect(await state()).toBe('TASK_STATE_WORKING');
    gateway.emit(runIdOf('r1'), [paused([])]);
    expect(await state()).toBe('TASK_STATE_INPUT_REQUIRED');
    gateway.emit(runIdOf('r1'), [{ type: 'run-resumed', deliveries: 1 }, completed('yes')]);
    const { result } = await rpc(mount, gateway, 'GetTask', { id: 'r1' });
    expect(result).toMatchObject({
      id: 'r1',
      contextId: 'c1',
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'yes' }] }],
    });
    expect((await rpc(mount, gateway, 'GetTask', { id: 'r9' })).error).toMatchObject({
      code: -32001,
      data: [expect.objectContaining({ reason: 'TASK_NOT_FOUND' })],
    });
  });

  test('cancel a task, once or twice; one that is over is not cancelable', async () => {
    const gateway = fakeGateway(({ door }) =>
      door === 'cancel' ? [cancelled()] : [{ type: 'run-started' }],
    );
    await send(gateway, 'x', {}, { configuration: { returnImmediately: true } });
    for (let round = 0; round < 2; round += 1) {
      const { result } = await rpc(mount, gateway, 'CancelTask', { id: 'r1' });
      expect(result).toMatchObject({ id: 'r1', status: { state: 'TASK_STATE_CANCELED' } });
    }
    expect(gateway.entered.filter(({ door }) => door === 'cancel')).toHaveLength(1);
    for (const end of [completed('x'), failed]) {
      const over = fakeGateway(() => [end]);
      await send(over, 'x');
      expect((await rpc(mount, over, 'CancelTask', { id: 'r1' })).error?.code).toBe(-32002);
    }
  });
});

describe('errors', () => {
  const errorOf = async (code: ConstructorParameters<typeof AgentError>[0]) => {
    const gateway = fakeGateway(answering);
    gateway.fail('start', new AgentError(code, { message: 'What happened.', mend: 'What to do.' }));
    return (await send(gateway, 'x')).error;
  };

  test('of the gateway keep code, words and mend', async () => {
    expect(await errorOf('CONVERSATION_BUSY')).toMatchObject({
      code: -32004,
      message: 'CONVERSATION_BUSY: What happened. What to do.',
    });
    expect((await errorOf('INPUT_INVALID'))?.code).toBe(-32602);
    expect((await errorOf('STORE_UNREACHABLE'))?.code).toBe(-32603);
  });

  test('of a bug tell nothing', async () => {
    const gateway = fakeGateway(answering);
    gateway.fail('start', new TypeError('secret'));
    const { error } = await send(gateway, 'x');
    expect(error?.code).toBe(-32603);
    expect(error?.message).not.toContain('secret');
  });
});
