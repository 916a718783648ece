import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type CountingProcess, countingProcess } from '../src/counting-process.ts';

let service: CountingProcess;
beforeAll(async () => {
  service = await countingProcess({ host: { limits: { bodyBytes: 10_000, heartbeatMs: 60_000 } } });
});
afterAll(() => service.kill());

/** A frame as a client must send it, masked with nothing, unless it says otherwise. */
function frame(
  payload: Buffer,
  { opcode = 1, isFinal = true, isMasked = true, reserved = 0 } = {},
): Buffer {
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const mask = isMasked ? 0x80 : 0;
  const length =
    payload.length < 126
      ? Buffer.from([mask | payload.length])
      : Buffer.from([mask | 126, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([
    Buffer.from([first]),
    length,
    isMasked ? Buffer.alloc(4) : Buffer.of(),
    payload,
  ]);
}

async function upgraded(): Promise<Socket> {
  const socket = connect(service.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(
    [
      'GET /agents/teller/ws HTTP/1.1',
      'host: localhost',
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      `sec-websocket-key: ${randomBytes(16).toString('base64')}`,
      '\r\n',
    ].join('\r\n'),
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(String(head)).toMatch(/^HTTP\/1\.1 101/);
  return socket;
}

/** The code of the close frame that the host answers with. */
async function closeCode(socket: Socket): Promise<number | undefined> {
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  if (!socket.destroyed) await once(socket, 'close');
  let at = 0;
  const all = Buffer.concat(pieces);
  while (at + 2 <= all.length) {
    const opcode = (all[at] ?? 0) & 0x0f;
    const length = (all[at + 1] ?? 0) & 0x7f;
    const start = at + (length === 126 ? 4 : 2);
    if (opcode === 8) return all.readUInt16BE(start);
    at = start + (length === 126 ? all.readUInt16BE(at + 2) : length);
  }
  return undefined;
}

const text = Buffer.from('{"v":1,"type":"ping"}');
const PROTOCOL = 1002;

test.each<[string, readonly Buffer[], number]>([
  ['that are not masked', [frame(text, { isMasked: false })], PROTOCOL],
  ['with reserved bits', [frame(text, { reserved: 4 })], PROTOCOL],
  ['with an opcode that there is not', [frame(text, { opcode: 3 })], PROTOCOL],
  ['that continue nothing', [frame(text, { opcode: 0 })], PROTOCOL],
  ['of control in pieces', [frame(text, { opcode: 9, isFinal: false })], PROTOCOL],
  ['that are no text', [frame(Buffer.from([0xff, 0xfe]))], 1007],
  ['that are larger than a message may be', [frame(Buffer.alloc(10_001, 0x20))], 1009],
  [
    'in pieces that come to more than a message may be',
    Array.from({ length: 20 }, (_, index) =>
      frame(Buffer.alloc(1_000, 0x20), { opcode: index === 0 ? 1 : 0, isFinal: false }),
    ),
    1009,
  ],
])('frames %s end their socket', async (_what, frames, code) => {
  const socket = await upgraded();
  const ended = closeCode(socket);
  for (const one of frames) socket.write(one);
  expect(await ended).toBe(code);
});

test('bytes that are no frames end their socket, and the host is as it was', async () => {
  const before = await service.measure();
  for (let round = 0; round < 50; round += 1) {
    const socket = await upgraded();
    const ended = once(socket, 'close');
    socket.resume();
    socket.write(Buffer.concat([Buffer.from([0xf7, 0x80]), randomBytes(2_000)]));
    await ended;
  }
  const gone = Array.from({ length: 50 }, async () => (await upgraded()).destroy());
  await Promise.all(gone);
  let after = await service.measure();
  while (after.sockets > before.sockets + 2) after = await service.measure();
  expect(after.uncaught).toEqual([]);
  expect(after.timers).toBeLessThanOrEqual(before.timers + 2);
  const open = await fetch(`${service.url}/metrics`);
  expect(await open.text()).toContain('hexagent_http_open{kind="socket"} 0');
});

test('a flood of messages is worked off in order, and the socket is not read on meanwhile', async () => {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/agents/teller/ws`);
  await once(socket, 'open');
  const ids: string[] = [];
  const count = 5_000;
  const all = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const { id } = JSON.parse(String(data)) as { readonly id?: string };
      if (id !== undefined) ids.push(id);
      if (ids.length === count) resolve();
    });
  });
  for (let index = 0; index < count; index += 1)
    socket.send(JSON.stringify({ v: 1, id: String(index), type: 'unwatch', runId: 'r1' }));
  await all;
  expect(ids).toEqual(Array.from({ length: count }, (_, index) => String(index)));
  socket.terminate();
});
