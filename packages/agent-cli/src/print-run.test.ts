import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { fakeApp, resultOf } from '../test/fake-app.ts';
import { fakeIo } from '../test/fake-io.ts';
import { printRun } from './print-run.ts';

const delta = { type: 'message-delta', messageId: 'm1', delta: 'Forty-two.' } as const;

const started = (turn: NonNullable<Parameters<typeof fakeApp>[0]>['turns']) => {
  const { app } = fakeApp({ turns: turn ?? [] });
  return app.runs.start('assistant', { message: 'Hi' }, app.local('test'));
};

test('prints the answer and resolves with the result', async () => {
  const { io, stdout, stderr } = fakeIo();
  const result = await printRun(await started([{ events: [delta] }]), { streams: io });
  expect(result).toEqual(resultOf({ kind: 'completed' }));
  expect(stdout()).toBe('Forty-two.\n');
  expect(stderr()).toBe('');
});

test('stops printing when the reader has left, and still gives the result', async () => {
  const { io, stdoutStream } = fakeIo({ terminal: true });
  const events = [delta, delta, delta];
  const run = await started([{ events, result: { kind: 'completed' } }]);
  const handle: typeof run = {
    ...run,
    result: Promise.resolve(resultOf({ kind: 'completed' })),
    events: async function* (options) {
      for await (const envelope of run.events(options)) {
        yield envelope;
        stdoutStream.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      }
    },
  };
  expect((await printRun(handle, { streams: io })).kind).toBe('completed');
});

test('rejects with the reason of its signal', async () => {
  const { io } = fakeIo();
  const run = await started([{ events: [delta], hangs: true }]);
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(printRun(run, { streams: io, signal })).rejects.toThrow('enough');
});

test('rejects when stdout cannot be written, such as on a full disk', async () => {
  const { io } = fakeIo();
  const full = new Writable({ write: (_chunk, _encoding, done) => done(new Error('disk full')) });
  const run = await started([{ events: [delta], result: { kind: 'completed' } }]);
  const streams = { ...io, stdout: full };
  await expect(printRun(run, { streams })).rejects.toThrow('disk full');
});
