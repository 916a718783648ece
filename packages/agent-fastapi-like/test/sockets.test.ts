import { AgentError, type AgentEvent, type Principal } from '@hexagent/agent-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeGateway, fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';
import { type Client, connect, event, type Said, typed } from './socket-client.ts';
import { until } from './sse-client.ts';

const delta = (text: string): AgentEvent => ({
  type: 'message-delta',
  messageId: 'm',
  delta: text,
});
const summary = { text: '', toolCalls: [], evidenceCount: 0 };
const finished: AgentEvent = {
  type: 'run-finished',
  outcome: { kind: 'completed', text: 'done' },
  usage: {},
  summary,
};
const paused = (waitId: string): AgentEvent =>
  ({
    type: 'run-paused',
    waits: [{ id: waitId, kind: 'approval', status: 'pending' }],
    usage: {},
    summary,
  }) as unknown as AgentEvent;
const principal = (tenantId: string): Principal => ({
  scope: { tenantId },
  subject: tenantId,
  roles: [],
  permissions: [],
});
const byToken = ({ headers }: Request): Principal | undefined => {
  const token = headers.get('authorization')?.replace('Bearer ', '') ?? headers.get('cookie');
  return token === null || token === undefined || token === 'wrong' ? undefined : principal(token);
};

let gateway: FakeGateway;
let host: RunningHost;
const clients: Client[] = [];

const open = async (...args: readonly unknown[]): Promise<Client> => {
  const [path, options] = args as [string | undefined, object | undefined];
  const client = await connect(host.url, path, options);
  clients.push(client);
  return client;
};
const seqs = (said: readonly Said[]): readonly number[] =>
  said.flatMap(({ envelope }) => (envelope === undefined ? [] : [envelope.seq]));

beforeEach(async () => {
  gateway = fakeGateway();
  host = await startHost(gateway);
});
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.terminate();
  await host.close();
});

test('starts a run, tells its events in their order, and says when it rests', async () => {
  const client = await open();
  await client.next(typed('ready'));
  client.say({ id: 'a', type: 'start', input: { message: 'x', clientRunId: 'mine' } });
  const done = await client.next(typed('done'));
  expect(done).toEqual({ v: 1, type: 'done', id: 'a', runId: 'r1' });
  gateway.emit('r1', { type: 'run-started' }, delta('hi'), finished);
  expect(await client.next(typed('rest'))).toEqual({
    v: 1,
    type: 'rest',
    runId: 'r1',
    after: 3,
    status: 'completed',
  });
  expect(client.said.map(({ type }) => type)).toEqual([
    'ready',
    'done',
    'event',
    'event',
    'event',
    'rest',
  ]);
  expect(client.said[2]?.envelope).toMatchObject({ seq: 1, event: { type: 'run-started' } });
  expect(gateway.entered.find(({ door }) => door === 'start')?.args[2]).toBe('mine');
});

test('several runs over one socket; one of them can be left', async () => {
  const client = await open();
  for (const id of ['a', 'b']) client.say({ id, type: 'start', input: { message: 'x' } });
  await client.next(({ id }) => id === 'b');
  gateway.emit('r2', delta('two'));
  expect((await client.next(event('message-delta'))).envelope).toMatchObject({ runId: 'r2' });
  client.say({ id: 'c', type: 'unwatch', runId: 'r1' });
  await client.next(({ id }) => id === 'c');
  await until(() => gateway.watching() === 1);
  gateway.emit('r1', finished);
  gateway.emit('r2', finished);
  expect(await client.next(typed('rest'))).toMatchObject({ runId: 'r2' });
  expect(client.said.filter(({ envelope }) => envelope?.seq === 1)).toHaveLength(1);
});

test('a second socket goes on behind the last number, also of a run that it did not start', async () => {
  const first = await open();
  first.say({ id: 'a', type: 'start', input: { message: 'x' } });
  await first.next(typed('done'));
  gateway.emit('r1', { type: 'run-started' }, delta('one'));
  await first.next(event('message-delta'));
  first.socket.terminate();
  await until(() => gateway.watching() === 0);
  gateway.emit('r1', delta('two'), finished);
  const second = await open();
  second.say({ id: 'b', type: 'watch', runId: 'r1', after: 2 });
  await second.next(typed('rest'));
  expect(seqs(second.said)).toEqual([3, 4]);
});

test('an answer lets the run go on, and its events go on over the same socket', async () => {
  const client = await open();
  client.say({ type: 'start', input: { message: 'x' } });
  await client.next(typed('done'));
  gateway.emit('r1', { type: 'run-started' }, paused('w1'));
  expect(await client.next(typed('rest'))).toMatchObject({
    after: 2,
    status: 'interrupted',
    waits: [{ id: 'w1' }],
  });
  gateway.emit('r1', { type: 'run-resumed', deliveries: 1 }, finished);
  client.say({ id: 'yes', type: 'resolve', waitId: 'w1', resolution: { decision: 'approve' } });
  await client.next(({ id }) => id === 'yes');
  const ended = await client.next(typed('rest'));
  expect(ended).toMatchObject({ after: 4, status: 'completed' });
  expect(ended).not.toHaveProperty('waits');
  expect(seqs(client.said)).toEqual([1, 2, 3, 4]);
  expect(gateway.entered.find(({ door }) => door === 'resolve')?.args).toEqual([
    'w1',
    { decision: 'approve' },
  ]);
});

test('a run that rests already says how, and what it waits for, to who has seen no event of it', async () => {
  const first = await open();
  first.say({ type: 'start', input: { message: 'x' } });
  await first.next(typed('done'));
  gateway.emit('r1', { type: 'run-started' }, paused('w1'));
  await first.next(typed('rest'));
  const second = await open();
  const rest = async (): Promise<Said> => {
    second.say({ type: 'watch', runId: 'r1', after: 2 });
    return second.next(typed('rest'));
  };
  expect(await rest()).toMatchObject({ after: 2, status: 'active' });
  gateway.stand('r1', 'interrupted');
  expect(await rest()).toMatchObject({ after: 2, status: 'interrupted', waits: [] });
  const answered = gateway.entered.length;
  gateway.fail('waits', new Error('The store is away.'));
  expect(Object.keys(await rest())).toEqual(['v', 'type', 'runId', 'after']);
  expect(gateway.entered.length).toBeGreaterThan(answered);
});

test('a message of no known type is told which there are', async () => {
  const client = await open();
  client.say({ id: 'x', type: 'stop' });
  const { error } = await client.next(typed('error'));
  expect(error?.message).toContain('message.type: is "stop", none of the allowed values.');
  expect(error?.message).toContain('authenticate, start, watch, unwatch, signal, resolve');
});

test('signals and cancels', async () => {
  const client = await open();
  client.say({ type: 'start', input: { message: 'x' } });
  await client.next(typed('done'));
  const signal = { kind: 'user-message', payload: { text: 'more' }, dedupeKey: 'k' };
  client.say({ id: 's', type: 'signal', runId: 'r1', signal });
  client.say({ id: 'c', type: 'cancel', runId: 'r1', reason: 'enough' });
  await client.next(({ id }) => id === 's');
  await client.next(({ id }) => id === 'c');
  const doors = gateway.entered.filter(({ door }) => ['signal', 'cancel'].includes(door));
  expect(doors).toEqual([
    { door: 'signal', args: ['r1', signal] },
    { door: 'cancel', args: ['r1', 'enough'] },
  ]);
});

test('what is refused is a message with code and mend, and the socket stays', async () => {
  const client = await open();
  const refused = async (message: object | string): Promise<Said> => {
    client.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    return client.next(typed('error'));
  };
  expect((await refused('{')).error).toMatchObject({ code: 'HTTP_REQUEST_INVALID' });
  for (const key of ['"__proto__":{}', '"\\u005f_proto__":1', '"constructor":{"prototype":1}'])
    expect((await refused(`{"v":1,"type":"ping",${key}}`)).error).toMatchObject({
      code: 'HTTP_REQUEST_INVALID',
      message: expect.stringContaining('__proto__'),
    });
  const unknown = await refused({ v: 1, id: 'u', type: 'dance' });
  expect(unknown).toMatchObject({ id: 'u', error: { code: 'INPUT_INVALID' } });
  expect(await refused({ v: 2, id: 'v', type: 'watch', runId: 'r1' })).toMatchObject({
    error: { code: 'INPUT_INVALID' },
  });
  const owner = { v: 1, id: 'o', type: 'start', input: { message: 'x', tenantId: 'other' } };
  expect((await refused(owner)).error?.message).toContain('input.tenantId');
  expect(await refused({ v: 1, id: 'n', type: 'watch', runId: 'r9' })).toMatchObject({
    id: 'n',
    error: { code: 'RUN_NOT_FOUND', mend: expect.stringMatching(/./) },
  });
  const half = { v: 1, type: 'resolve', waitId: 'w', resolution: { decision: 'modify' } };
  expect((await refused(half)).error?.message).toContain('input');
  gateway.fail('cancel', new TypeError('secret at /home/me'));
  const failed = await refused({ v: 1, type: 'cancel', runId: 'r1' });
  expect(failed.error?.code).toBe('INTERNAL_ERROR');
  expect(JSON.stringify(failed)).not.toContain('secret');
  client.say({ type: 'start', input: { message: 'x' } });
  await client.next(typed('done'));
  expect(client.socket.readyState).toBe(client.socket.OPEN);
});

test('a client that speaks something else is left after twenty messages', async () => {
  const client = await open();
  for (let count = 0; count < 25; count += 1) client.socket.send('hello?');
  expect((await client.closed).code).toBe(1008);
  expect(client.said.filter(typed('error')).length).toBeLessThanOrEqual(20);
});

test('a watch that fails later is told with its run; what is no longer kept comes as a snapshot', async () => {
  const client = await open();
  client.say({ type: 'start', input: { message: 'x' } });
  await client.next(typed('done'));
  gateway.emit('r1', { type: 'run-started' }, paused('w1'));
  await client.next(typed('rest'));
  gateway.fail('watch', new AgentError('STORE_UNREACHABLE', { message: 'Away.', mend: 'Wait.' }));
  client.say({ type: 'watch', runId: 'r1', after: 1 });
  expect(await client.next(typed('error'))).toMatchObject({
    runId: 'r1',
    error: { code: 'STORE_UNREACHABLE' },
  });
  const gone = (): AgentError =>
    new AgentError('EVENTS_PRUNED', { message: 'Gone.', mend: 'Look.' });
  gateway.fail('watch', gone());
  gateway.emit('r1', { type: 'run-resumed', deliveries: 1 });
  client.say({ type: 'watch', runId: 'r1' });
  expect((await client.next(typed('snapshot'))).snapshot).toMatchObject({ lastSeq: 3 });
  gateway.emit('r1', finished);
  expect((await client.next(event('run-finished'))).envelope?.seq).toBe(4);
  gateway.fail('watch', gone());
  gateway.fail('snapshot', gone());
  client.say({ type: 'watch', runId: 'r1' });
  expect(await client.next(typed('error'))).toMatchObject({ error: { code: 'EVENTS_PRUNED' } });
});

test('no more than a hundred runs at a time', async () => {
  const client = await open();
  for (let count = 0; count < 101; count += 1)
    client.say({ id: `${count}`, type: 'start', input: { message: 'x' } });
  const last = await client.next(({ id }) => id === '100');
  expect(last).toMatchObject({ type: 'error', error: { code: 'INPUT_INVALID' } });
  expect(gateway.watching()).toBe(100);
  client.say({ id: 'u', type: 'unwatch', runId: 'r1' });
  client.say({ id: 'again', type: 'start', input: { message: 'x' } });
  await client.next(({ id, type }) => id === 'again' && type === 'done');
});

test('a client that leaves leaves nothing behind; a stateless run ends with it', async () => {
  const client = await open('/agents/fleeting/ws');
  client.say({ type: 'start', input: { message: 'x' } });
  await client.next(typed('done'));
  await until(() => gateway.watching() === 1);
  expect(gateway.lastCaller()?.signal.aborted).toBe(false);
  client.socket.terminate();
  await until(() => gateway.watching() === 0);
  await until(() => gateway.lastCaller()?.signal.aborted === true);
});

test('by its own word a durable run ends with its client, and a stateless one does not', async () => {
  const client = await open();
  client.say({ type: 'start', onDisconnect: 'cancel', input: { message: 'x' } });
  await client.next(typed('done'));
  const other = await open('/agents/fleeting/ws');
  other.say({ type: 'start', onDisconnect: 'detach', input: { message: 'x' } });
  await other.next(typed('done'));
  const started = gateway.entered.length;
  client.socket.terminate();
  await until(() => gateway.entered.slice(started).some(({ door }) => door === 'cancel'));
  expect(gateway.entered.find(({ door }) => door === 'cancel')?.args).toEqual([
    'r1',
    'The client has left.',
  ]);
});

test('a host that closes says so with 1012, and starts no cancel', async () => {
  const client = await open();
  client.say({ type: 'start', onDisconnect: 'cancel', input: { message: 'x' } });
  await client.next(typed('done'));
  await host.close();
  expect((await client.closed).code).toBe(1012);
  expect(gateway.watching()).toBe(0);
  expect(gateway.entered.some(({ door }) => door === 'cancel')).toBe(false);
});

test('a frame of bytes is not read, and one that is too large ends the socket', async () => {
  const bytes = await open();
  bytes.socket.send(Buffer.from([1, 2, 3]));
  expect((await bytes.closed).code).toBe(1003);
  await host.close();
  host = await startHost(gateway, { limits: { bodyBytes: 1_000 } });
  const large = await open();
  large.socket.send('x'.repeat(1_001));
  expect((await large.closed).code).toBe(1009);
});

test('a peer that does not answer a ping is broken off; one that does stays', async () => {
  await host.close();
  host = await startHost(gateway, { limits: { heartbeatMs: 20 } });
  const silent = await connect(host.url, '/agents/echo/ws', { autoPong: false } as object);
  clients.push(silent);
  const live = await open();
  expect((await silent.closed).code).toBe(1006);
  live.say({ id: 'still', type: 'unwatch', runId: 'r1' });
  await live.next(({ id }) => id === 'still');
});

test('a reader that stops reading costs a bounded amount and stalls no other', async () => {
  const stalled = await open();
  stalled.say({ type: 'start', input: { message: 'x' } });
  await stalled.next(typed('done'));
  stalled.socket.pause();
  const other = await open();
  other.say({ type: 'watch', runId: 'r1' });
  await other.next(typed('done'));
  const large = delta('x'.repeat(100_000));
  for (let count = 0; count < 200; count += 1) {
    gateway.emit('r1', large);
    await other.next(({ envelope }) => envelope?.seq === count + 1);
  }
  gateway.emit('r1', finished);
  await other.next(typed('rest'));
  // Twenty megabytes went to the other; what the kernel does not hold for this one waits in the log.
  expect(stalled.said.length).toBeLessThan(200);
  stalled.socket.resume();
  await stalled.next(typed('rest'));
  expect(seqs(stalled.said)).toEqual(Array.from({ length: 201 }, (_, index) => index + 1));
});

test('who asks is shown at the upgrade, or said in the first message', async () => {
  await host.close();
  host = await startHost(gateway, { authenticate: byToken });
  const shown = await open(undefined, { headers: { authorization: 'Bearer t1' } });
  await shown.next(typed('ready'));
  shown.say({ id: 'a', type: 'start', input: { message: 'x' } });
  await shown.next(typed('done'));
  const said = await open();
  said.say({ type: 'authenticate', token: 't2' });
  await said.next(typed('ready'));
  said.say({ id: 'foreign', type: 'watch', runId: 'r1' });
  expect(await said.next(({ id }) => id === 'foreign')).toMatchObject({
    error: { code: 'RUN_NOT_FOUND' },
  });
  said.say({ type: 'authenticate', token: 't1' });
  expect(await said.next(typed('error'))).toMatchObject({
    error: { code: 'HTTP_REQUEST_INVALID' },
  });
});

test('a page in a browser offers its token as a subprotocol, and is answered with the one of the messages', async () => {
  await host.close();
  host = await startHost(gateway, { authenticate: byToken });
  const offering = (...protocols: readonly string[]) =>
    connect(host.url, undefined, { headers: { cookie: 'wrong' } }, protocols);
  const page = await offering('bearer.t1', 'hexagent.v1');
  clients.push(page);
  await page.next(typed('ready'));
  expect(page.socket.protocol).toBe('hexagent.v1');
  page.say({ id: 'a', type: 'start', input: { message: 'x' } });
  await page.next(typed('done'));
  expect(gateway.entered.find(({ door }) => door === 'start')).toBeDefined();
  expect(gateway.lastCaller()?.principal.scope.tenantId).toBe('t1');
  // A browser shows no page the status of an upgrade that is refused: it is let in to be told.
  const wrong = await offering('hexagent.v1', 'bearer.wrong');
  clients.push(wrong);
  const before = gateway.entered.length;
  expect(await wrong.next(typed('error'))).toMatchObject({ error: { code: 'PRINCIPAL_REQUIRED' } });
  expect(await wrong.closed).toEqual({ code: 4401, reason: 'PRINCIPAL_REQUIRED' });
  expect(gateway.entered.length).toBe(before);
  await expect(offering('bearer.wrong')).rejects.toThrow('401');
  // A cookie that is no good may be another application's: the first message says who asks.
  const silent = await offering('hexagent.v1');
  clients.push(silent);
  silent.say({ type: 'authenticate', token: 't2' });
  await silent.next(typed('ready'));
});

test('who does not say in time who it is, is left', async () => {
  await host.close();
  host = await startHost(gateway, { authenticate: byToken, sockets: { authenticateMs: 20 } });
  const mute = await open();
  expect((await mute.closed).code).toBe(4401);
  expect(mute.said).toEqual([]);
  const known = await open(undefined, { headers: { authorization: 'Bearer t1' } });
  const other = await open();
  expect((await other.closed).code).toBe(4401);
  known.say({ id: 'p', type: 'ping' });
  expect(await known.next(typed('pong'))).toEqual({ v: 1, type: 'pong', id: 'p' });
});

test('fails closed: a wrong token is refused, at the upgrade and as a message, and so is a first message that says none', async () => {
  await host.close();
  host = await startHost(gateway, { authenticate: byToken });
  const wrong = { headers: { authorization: 'Bearer wrong' } };
  await expect(connect(host.url, undefined, wrong)).rejects.toThrow('401');
  const guess = await open();
  guess.say({ type: 'authenticate', token: 'wrong' });
  expect(await guess.next(typed('error'))).toMatchObject({ error: { code: 'PRINCIPAL_REQUIRED' } });
  expect((await guess.closed).code).toBe(4401);
  const rude = await open();
  rude.say({ type: 'start', input: { message: 'x' } });
  expect((await rude.closed).code).toBe(4401);
  expect(gateway.inputs).toEqual([]);
  await host.close();
  const nobody = (() => ({ subject: 'x' })) as unknown as () => Principal;
  host = await startHost(gateway, { authenticate: nobody });
  const forbidden = await open();
  forbidden.say({ type: 'authenticate', token: 't' });
  expect((await forbidden.closed).code).toBe(4403);
});

test('a page of another origin opens no socket with the cookies of its browser', async () => {
  await host.close();
  host = await startHost(gateway, { authenticate: byToken });
  const from = (origin: string, cookie = 't1') => ({ headers: { origin, cookie } });
  await expect(connect(host.url, undefined, from('https://evil.example'))).rejects.toThrow('403');
  await expect(connect(host.url, undefined, from('null'))).rejects.toThrow('403');
  await (await open(undefined, from(host.url))).next(typed('ready'));
  await host.close();
  const origins = ['https://app.example'];
  for (const options of [{ sockets: { origins } }, { cors: { origins } }]) {
    host = await startHost(gateway, { authenticate: byToken, ...options });
    await (await open(undefined, from('https://app.example'))).next(typed('ready'));
    await expect(connect(host.url, undefined, from('https://evil.example'))).rejects.toThrow('403');
    await host.close();
  }
  host = await startHost(gateway, { authenticate: byToken, sockets: { origins: '*' } });
  await expect(connect(host.url, undefined, from('https://any.example'))).rejects.toThrow('403');
  const page = await open(undefined, { headers: { origin: 'https://any.example' } });
  page.say({ type: 'authenticate', token: 't1' });
  await page.next(typed('ready'));
});

test('without authenticate a page of another origin is refused as everywhere', async () => {
  const foreign = { headers: { origin: 'https://evil.example' } };
  await expect(connect(host.url, undefined, foreign)).rejects.toThrow('403');
});
