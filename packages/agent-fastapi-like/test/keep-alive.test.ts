import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';

let host: RunningHost | undefined;
afterEach(() => host?.close());

const TABLE = '/proc/net/tcp';

/** The timer of the kernel for each open connection from this port: 2 asks a silent peer whether it is there. Source: proc(5). */
function timersOf(port: number): readonly string[] {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync(TABLE, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address = '', , state]) => address.endsWith(local) && state === '01')
    .map(([, , , , , timer = '']) => timer.slice(0, 2));
}

test.runIf(existsSync(TABLE))(
  'the kernel asks a silent peer whether it is there: of one that is gone without a word nothing else would tell',
  async () => {
    host = await startHost(fakeGateway());
    const port = Number(new URL(host.url).port);
    const silent = connect(port, '127.0.0.1');
    await expect.poll(() => timersOf(port)).toEqual(['02']);
    silent.destroy();
  },
);
