import { expect, test } from 'vitest';
import { a2aMount } from '../src/a2a-mount.ts';
import { completed, fakeGateway } from './fake-gateway.ts';
import { agentLike, ask, message, type RpcAnswer, rpc } from './served.ts';

const mount = a2aMount({ agent: agentLike() });
const gateway = fakeGateway(() => [completed('ok')]);

const raw = async (
  body: string,
  headers: Record<string, string> = { 'a2a-version': '1.0' },
  path = '/a2a',
) =>
  (await (await ask(mount, path, { gateway, method: 'POST', headers, body })).json()) as RpcAnswer;

test('what is no JSON, and what is no request, have codes of their own', async () => {
  expect(await raw('{"jsonrpc":')).toMatchObject({ id: null, error: { code: -32700 } });
  for (const body of [
    '[]',
    '"x"',
    '{"id":3}',
    '{"jsonrpc":"2.0","id":3}',
    '{"jsonrpc":"1.0","id":3,"method":"GetTask"}',
  ]) {
    expect((await raw(body)).error?.code).toBe(-32600);
  }
  expect((await raw('{"id":3}')).id).toBe(3);
  expect((await raw('{"id":{}}')).id).toBeNull();
});

test('unknown methods and those of other versions are not found; those that are not served say so', async () => {
  for (const method of ['message/send', 'Nothing']) {
    expect((await rpc(mount, gateway, method, {})).error?.code).toBe(-32601);
  }
  const params = { message: message('x') };
  expect((await rpc(mount, gateway, 'SendStreamingMessage', params)).error?.code).toBe(-32004);
  expect((await rpc(mount, gateway, 'SubscribeToTask', { id: 'r1' })).error?.code).toBe(-32004);
  expect((await rpc(mount, gateway, 'ListTasks', {})).error?.code).toBe(-32004);
  expect((await rpc(mount, gateway, 'GetExtendedAgentCard', {})).error?.code).toBe(-32007);
  for (const method of ['Create', 'Get', 'Delete']) {
    const answer = await rpc(mount, gateway, `${method}TaskPushNotificationConfig`, {});
    expect(answer.error?.code).toBe(-32003);
  }
  expect((await rpc(mount, gateway, 'ListTaskPushNotificationConfigs', {})).error?.code).toBe(
    -32003,
  );
});

test('a client says its version, in the header or the query; none means 0.3, which is not served', async () => {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'SendMessage',
    params: { message: message('x') },
  });
  expect((await raw(body, {})).error).toMatchObject({
    code: -32009,
    message: expect.stringContaining("'0.3'"),
  });
  expect((await raw(body, { 'a2a-version': '9.9' })).error?.code).toBe(-32009);
  expect((await raw(body, { 'a2a-version': '' })).error?.code).toBe(-32009);
  expect((await raw(body, {}, '/a2a?A2A-Version=1.0')).result?.task?.id).toBe('r1');
});

test('parameters that do not fit are told all at once', async () => {
  const wrong = {
    messageId: ' ',
    role: 'ROLE_AGENT',
    parts: [{ text: 'x' }, null, {}, { text: 1 }, { text: 'x', data: 1 }],
  };
  const { error } = await rpc(mount, gateway, 'SendMessage', { message: wrong });
  expect(error?.code).toBe(-32602);
  for (const words of [
    'messageId',
    '"ROLE_AGENT"',
    'parts[1]',
    'parts[2]',
    'parts[3].text',
    'parts[4]',
  ]) {
    expect(error?.message).toContain(words);
  }
  for (const params of [[], 'x', {}, { message: 5 }, { message: message('x', { parts: [] }) }]) {
    expect((await rpc(mount, gateway, 'SendMessage', params)).error?.code).toBe(-32602);
  }
  expect((await rpc(mount, gateway, 'GetTask', {})).error?.code).toBe(-32602);
  expect((await rpc(mount, gateway, 'CancelTask', { id: '' })).error?.code).toBe(-32602);
});

test('other paths and methods of HTTP are refused as such', async () => {
  await expect(ask(mount, '/a2a/else')).rejects.toMatchObject({ code: 'HTTP_ROUTE_UNKNOWN' });
  const get = await ask(mount, '/a2a');
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
});

test('a body that is too large is the host’s to refuse', async () => {
  const large = ask(mount, '/a2a', { gateway, method: 'POST', body: 'x'.repeat(1_100_000) });
  await expect(large).rejects.toMatchObject({ code: 'HTTP_BODY_TOO_LARGE' });
});
