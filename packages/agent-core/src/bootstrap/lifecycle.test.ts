import { expect, test } from 'vitest';
import { AgentError } from '../base/error.ts';
import { modelUnreachable } from '../base/error-catalog.ts';
import type { RunGateway } from '../gateway/run-gateway.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { Lifecycle } from './lifecycle.ts';

const gateway = {} as RunGateway;
const { signal } = new AbortController();

/** Names the steps in the order in which they are taken. */
function recorded(): { readonly steps: string[]; step(name: string): () => Promise<void> } {
  const steps: string[] = [];
  return {
    steps,
    step: (name) => async () => {
      steps.push(name);
    },
  };
}

test('starts in order, and closes what takes work in before what it stands on, each in reverse', async () => {
  const lifecycle = new Lifecycle(fakeClock());
  const { steps, step } = recorded();
  lifecycle.onClose('store', step('close store'));
  lifecycle.onStart('api', step('start api'));
  lifecycle.onClose('api', step('close api'));
  lifecycle.onStart('host', step('start host'));
  lifecycle.onClose('host', step('close host'));
  lifecycle.onClose('runs', step('close runs'));
  await lifecycle.start(gateway, signal);
  await lifecycle.close();
  expect(steps).toEqual([
    'start api',
    'start host',
    'close host',
    'close api',
    'close runs',
    'close store',
  ]);
});

test('gives a start the gateway and the signal', async () => {
  const lifecycle = new Lifecycle(fakeClock());
  const seen: unknown[] = [];
  lifecycle.onStart('host', async (given, stop) => {
    seen.push(given, stop.signal);
  });
  await lifecycle.start(gateway, signal);
  expect(seen).toEqual([gateway, signal]);
});

test('a start that fails names its plugin; an AgentError keeps its code and its mend', async () => {
  const failed = async (error: unknown): Promise<AgentError> => {
    const lifecycle = new Lifecycle(fakeClock());
    lifecycle.onStart('host', async () => {
      throw error;
    });
    const caught = await lifecycle.start(gateway, signal).catch((thrown: unknown) => thrown);
    if (!AgentError.is(caught)) throw new Error('it did not fail');
    return caught;
  };
  expect(await failed(new Error('no port is free'))).toMatchObject({
    code: 'PLUGIN_SETUP_FAILED',
    message: 'The plugin "host" could not be set up: no port is free',
  });
  const cause = modelUnreachable({ reason: 'Nobody is there.', retryAfterMs: 5 });
  expect(await failed(cause)).toMatchObject({
    code: 'MODEL_UNREACHABLE',
    message: 'The plugin "host": Nobody is there.',
    mend: cause.mend,
    retryable: true,
    retryAfterMs: 5,
    cause,
  });
});

test('closes once: a second call waits for the first', async () => {
  const lifecycle = new Lifecycle(fakeClock());
  const { steps, step } = recorded();
  lifecycle.onClose('store', step('close store'));
  await Promise.all([lifecycle.close(), lifecycle.close()]);
  await lifecycle.close();
  expect(steps).toEqual(['close store']);
});

test('a step that fails, at once or later, does not keep the others from closing', async () => {
  const lifecycle = new Lifecycle(fakeClock());
  const { steps, step } = recorded();
  lifecycle.onClose('first', step('close first'));
  lifecycle.onClose('second', async () => {
    throw new Error('no');
  });
  lifecycle.onClose('third', () => {
    throw new Error('at once');
  });
  await lifecycle.close();
  expect(steps).toEqual(['close first']);
});

test('a step that does not come to an end is left behind after its time, and is told so', async () => {
  const clock = fakeClock();
  const lifecycle = new Lifecycle(clock);
  const { steps, step } = recorded();
  let told: AbortSignal | undefined;
  lifecycle.onClose('store', step('close store'));
  lifecycle.onClose('stuck', (stop) => {
    told = stop.signal;
    return new Promise(() => undefined);
  });
  const closed = lifecycle.close();
  await clock.advance(9_999);
  expect([steps, told?.aborted]).toEqual([[], false]);
  await clock.advance(1);
  await closed;
  expect(steps).toEqual(['close store']);
  expect(told?.reason).toMatchObject({ code: 'APP_CLOSED' });
});
