import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { LOG_SERIALIZERS } from '../src/problems/log-line.ts';

/** Runs a host with a log of everything in a process of its own, and reads what it wrote. */
async function logOf(): Promise<string> {
  const script = fileURLToPath(new URL('./logging-host.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=development', '--import', 'tsx', script], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (data) => {
    log += data;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect([code, log.slice(-2_000)]).toEqual([0, expect.any(String)]);
  return log;
}

test('no secret of a request stands in the log; its id, path and run do', async () => {
  const log = await logOf();
  const lines = log
    .trim()
    .split('\n')
    .map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
  for (const secret of [
    'secret-token',
    'secret-cookie',
    'secret-query',
    'secret-key',
    'secret-body',
  ])
    expect(log).not.toContain(secret);
  expect(lines.some(({ reqId }) => reqId === 'mine')).toBe(true);
  expect(lines.some(({ req }) => JSON.stringify(req)?.includes('"path":"/runs"'))).toBe(true);
  expect(lines.some(({ run, msg }) => run === 'r1' && msg === 'run begun')).toBe(true);
  expect(lines.some(({ run, msg }) => run === 'r1' && msg === 'request completed')).toBe(true);
  expect(lines.some(({ threw }) => threw === 'Error')).toBe(true);
});

test('an error in the log has its words and causes, and nothing that hangs on it', () => {
  const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET', headers: { a: 1 } });
  const error = new Error('outer', { cause });
  expect(LOG_SERIALIZERS.err(error)).toEqual({
    type: 'Error',
    message: 'outer',
    stack: expect.any(String),
    cause: { type: 'Error', message: 'reset', code: 'ECONNRESET', stack: expect.any(String) },
  });
  const circle = new Error('circle');
  circle.cause = circle;
  expect(JSON.stringify(LOG_SERIALIZERS.err(circle))).toContain('circle');
  expect(LOG_SERIALIZERS.err(new Error('x', { cause: 'plain' }))).toMatchObject({
    cause: { type: 'string', message: 'plain' },
  });
});
