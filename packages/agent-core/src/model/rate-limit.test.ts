import { expect, test } from 'vitest';
import { modelOverloaded } from '../base/error-catalog.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { type ScriptStep, scripted } from '../testing/scripted-model.ts';
import type { AgentModel, ModelRequest } from './agent-model.ts';
import { withRateLimit } from './rate-limit.ts';

const asking = (text = ''): ModelRequest => ({
  messages: [{ role: 'user', origin: 'user', parts: [{ type: 'text', text }] }],
  tools: [],
  toolChoice: 'none',
  requestId: 'r',
});

async function whole(model: AgentModel, request = asking(), signal = new AbortController().signal) {
  let text = '';
  for await (const batch of model.stream(request, { signal }))
    for (const event of batch) if (event.type === 'text') text += event.text;
  return text;
}

function gate() {
  let open: () => void = () => undefined;
  const until = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { until, open };
}

const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
const answers = (...texts: readonly string[]): readonly ScriptStep[] =>
  texts.map((text) => ({ text, usage: { inputTokens: 1, outputTokens: 1 } }));

test('no more go on at once than may, and the others follow in their order', async () => {
  const held = gate();
  const inner = scripted([{ text: 'a', until: held.until }, ...answers('b', 'c')]);
  const model = withRateLimit(inner, { concurrency: 1 });
  const order: string[] = [];
  const all = [whole(model), whole(model), whole(model)].map((one) =>
    one.then((text) => order.push(text)),
  );
  await turn();
  expect(inner.requests.length).toBe(1);
  held.open();
  await Promise.all(all);
  expect(order).toEqual(['a', 'b', 'c']);
});

test('a failure and a reader that leaves make room, once', async () => {
  const busy = modelOverloaded({ reason: 'busy' });
  const inner = scripted([{ error: busy }, { text: ['left', 'here'] }, ...answers('last')]);
  const model = withRateLimit(inner, { concurrency: 1 });
  await expect(whole(model)).rejects.toBe(busy);
  const stream = model.stream(asking(), new AbortController())[Symbol.asyncIterator]();
  await stream.next();
  await stream.return?.();
  await stream.return?.();
  expect(await whole(model)).toBe('last');
});

test('an abort leaves the queue, and who stands behind moves up', async () => {
  const held = gate();
  const inner = scripted([{ text: 'a', until: held.until }, ...answers('c')]);
  const model = withRateLimit(inner, { concurrency: 1 });
  const first = whole(model);
  const stop = new AbortController();
  const reason = new Error('stopped');
  const second = expect(whole(model, asking(), stop.signal)).rejects.toBe(reason);
  const third = whole(model);
  await turn();
  stop.abort(reason);
  await second;
  held.open();
  expect([await first, await third]).toEqual(['a', 'c']);
  await expect(whole(model, asking(), stop.signal)).rejects.toBe(reason);
});

test('leaving while it waits ends the pending read', async () => {
  const held = gate();
  const model = withRateLimit(scripted([{ text: 'a', until: held.until }]), { concurrency: 1 });
  const first = whole(model);
  const stream = model.stream(asking(), new AbortController())[Symbol.asyncIterator]();
  const read = stream.next();
  await stream.return?.();
  expect(await read).toEqual({ done: true, value: undefined });
  held.open();
  await first;
});

test('so many requests a minute, then one when its part of the minute has passed', async () => {
  const clock = fakeClock();
  const inner = scripted(answers('a', 'b', 'c'));
  const model = withRateLimit(inner, { requestsPerMinute: 2, clock });
  await Promise.all([whole(model), whole(model)]);
  const third = whole(model);
  await clock.advance(29_999);
  expect(inner.requests.length).toBe(2);
  await clock.advance(1);
  expect(await third).toBe('c');
});

test('tokens are counted by an estimate, then by what the answer says', async () => {
  const clock = fakeClock();
  const usage = { inputTokens: 50, outputTokens: 40 };
  const inner = scripted([{ text: 'a', usage }, { text: 'b', usage: {} }, ...answers('c', 'd')]);
  const model = withRateLimit(inner, { tokensPerMinute: 100, clock });
  // 10 of 100 are estimated and 90 are used; the second call is estimated at 11.
  await whole(model, asking('x'.repeat(36)));
  const second = whole(model, asking('x'.repeat(40)));
  await clock.advance(599);
  expect(inner.requests.length).toBe(1);
  await clock.advance(1);
  await second;
  // What costs more than a minute holds waits until all of it is there.
  const third = whole(model, { ...asking(), sampling: { maxTokens: 1_000 } });
  await clock.advance(59_999);
  expect(inner.requests.length).toBe(2);
  await clock.advance(1);
  expect(await third).toBe('c');
});

test('a limit that is none is refused, each one', () => {
  const limits = { concurrency: 0.5, requestsPerMinute: 0, tokensPerMinute: Number.NaN };
  expect(() => withRateLimit(scripted([]), limits)).toThrow(
    expect.objectContaining({
      problems: [
        expect.objectContaining({ at: 'concurrency', seen: 'is 0.5.' }),
        expect.objectContaining({ at: 'requestsPerMinute' }),
        expect.objectContaining({ at: 'tokensPerMinute' }),
      ],
    }),
  );
});
