import { expect, test } from 'vitest';
import {
  modelAuthentication,
  modelContextOverflow,
  modelOverloaded,
  modelRateLimited,
} from '../base/error-catalog.ts';
import { type ScriptStep, scripted } from '../testing/scripted-model.ts';
import type { AgentModel, ModelCapabilities, ModelEvent, ModelRequest } from './agent-model.ts';
import { withFallbacks } from './fallback.ts';

const asking = (requestId = 'r', more: Partial<ModelRequest> = {}): ModelRequest => ({
  messages: [],
  tools: [],
  toolChoice: 'none',
  requestId,
  ...more,
});
const busy = modelOverloaded({ reason: 'busy', retryAfterMs: 5 });

const named = (id: string, steps: readonly ScriptStep[], more: Partial<AgentModel> = {}) => {
  const inner = scripted(steps);
  return { inner, model: { ...inner, id, stream: inner.stream, ...more } as AgentModel };
};

async function eventsOf(model: AgentModel, request = asking()) {
  const events: ModelEvent[] = [];
  for await (const batch of model.stream(request, new AbortController())) events.push(...batch);
  return events;
}

test('the next model answers where one fails before anything is shown, and the end says which', async () => {
  const first = named('first', [{ error: busy }]);
  const second = named('second', [{ text: 'Hello' }]);
  const events = await eventsOf(withFallbacks([first.model, second.model]));
  expect(events).toMatchObject([{ text: 'Hello' }, { type: 'finish', provider: 'second' }]);
});

test('an error behind the first event may be retried, and the next try of that step goes to the next model', async () => {
  const refused = modelAuthentication({ reason: 'no' });
  const first = named('first', [{ text: 'par', error: refused }, { text: 'Other step' }]);
  const second = named('second', [{ text: 'Whole' }]);
  const model = withFallbacks([first.model, second.model], { on: ['MODEL_AUTHENTICATION'] });
  await expect(eventsOf(model)).rejects.toMatchObject({
    code: 'MODEL_AUTHENTICATION',
    retryable: true,
    cause: refused,
  });
  expect(await eventsOf(model)).toMatchObject([{ text: 'Whole' }, { provider: 'second' }]);
  expect(await eventsOf(model, asking('s'))).toMatchObject([
    { text: 'Other step' },
    { provider: 'first' },
  ]);
});

test('how long a server asks to be left alone goes with its error', async () => {
  const slow = modelOverloaded({ reason: 'slow', retryable: false, retryAfterMs: 9 });
  const first = named('first', [{ text: 'par', error: slow }]);
  const model = withFallbacks([first.model, named('second', []).model]);
  await expect(eventsOf(model)).rejects.toMatchObject({ retryable: true, retryAfterMs: 9 });
});

test('the last one keeps its step, and its error is what it is', async () => {
  const first = named('first', [{ error: busy }, { text: 'never' }]);
  const second = named('second', [{ text: 'par', error: busy }, { text: 'Whole' }]);
  const model = withFallbacks([first.model, second.model]);
  await expect(eventsOf(model)).rejects.toBe(busy);
  expect(await eventsOf(model)).toMatchObject([{ text: 'Whole' }, { provider: 'second' }]);
  expect(first.inner.unused).toBe(1);
});

test('an error that no other model mends is thrown at once, and one of all names those before', async () => {
  const overflow = modelContextOverflow({ reason: 'long' });
  const one = withFallbacks([named('a', [{ error: overflow }]).model, named('b', []).model]);
  await expect(eventsOf(one)).rejects.toBe(overflow);
  const limited = modelRateLimited({ reason: 'slow down.' });
  const all = [busy, limited].map((error, index) => named(`m${index}`, [{ error }]).model);
  await expect(eventsOf(withFallbacks(all))).rejects.toMatchObject({
    code: 'MODEL_RATE_LIMITED',
    message: 'slow down. (before it, 0 (m0): MODEL_OVERLOADED)',
  });
  const bug = new TypeError('a bug');
  const later = withFallbacks([
    named('a', [{ error: busy }]).model,
    named('b', [{ error: bug }]).model,
  ]);
  await expect(eventsOf(later)).rejects.toBe(bug);
});

test('nothing is asked any more once the signal is aborted', async () => {
  const stop = new AbortController();
  const reason = new Error('stopped');
  const first = named('first', [
    {
      error: busy,
      expect: () => {
        stop.abort(reason);
      },
    },
  ]);
  const second = named('second', [{ text: 'never' }]);
  const stream = withFallbacks([first.model, second.model]).stream(asking(), stop);
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toBe(reason);
  expect(second.inner.unused).toBe(1);
});

test('leaving before the first event returns the model that is being asked', async () => {
  let returned = 0;
  let end: () => void = () => undefined;
  const pending = new Promise<IteratorResult<readonly ModelEvent[]>>((resolve) => {
    end = () => resolve({ done: true, value: undefined });
  });
  const silent = named('silent', [], {
    stream: () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => pending,
        return: async () => {
          returned += 1;
          end();
          return { done: true, value: undefined };
        },
      }),
    }),
  });
  const model = withFallbacks([silent.model, silent.model]);
  const stream = model.stream(asking(), new AbortController())[Symbol.asyncIterator]();
  const read = stream.next();
  await stream.return?.();
  expect(await read).toEqual({ done: true, value: undefined });
  expect(returned).toBeGreaterThan(0);
});

test('a selection is the first one its own, and another model gets it only where it takes it', async () => {
  const selection = { model: 'large' };
  const takes = { selectionProblem: () => undefined };
  const first = named('first', [{ error: busy }], {
    selectionProblem: () => 'no',
    countTokens: async () => 3,
    load: async () => ({ running: 0, waiting: 0 }),
  });
  const deaf = named('deaf', [{ error: busy }]);
  const second = named('second', [{ text: 'ok' }], takes);
  const model = withFallbacks([first.model, deaf.model, second.model]);
  await eventsOf(model, asking('r', { selection }));
  expect([first, deaf, second].map(({ inner }) => inner.requests[0]?.selection)).toEqual([
    selection,
    undefined,
    selection,
  ]);
  expect(model.selectionProblem?.(selection)).toBe('no');
  expect(await model.countTokens?.(asking(), new AbortController())).toBe(3);
  expect(await model.load?.(new AbortController())).toEqual({ running: 0, waiting: 0 });
});

test('two addresses under one name of a provider are refused, since state of the one would go to the other', () => {
  const at = (address: string): AgentModel => ({ ...scripted([]), id: 'p', address });
  const one = at('http://one/v1');
  expect(() => withFallbacks([one, at('http://two/v1')])).toThrow(
    expect.objectContaining({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('models[1]: asks http://two/v1 as "p"'),
    }),
  );
  expect(withFallbacks([one, at('http://one/v1')]).address).toBe('http://one/v1');
});

test('what they can do is what all of them can', () => {
  const able = (id: string, differences: Partial<ModelCapabilities>) => {
    const inner = scripted([], { capabilities: differences });
    return { ...inner, id } as AgentModel;
  };
  const model = withFallbacks([
    able('a', {
      contextWindow: 100,
      inputModalities: ['text', 'image', 'audio'],
      reasoning: false,
    }),
    able('b', {
      contextWindow: 50,
      structuredOutput: 'final-only',
      inputModalities: ['text', 'image'],
    }),
    able('c', { tools: false }),
  ]);
  expect(model.capabilities({ model: 'x' })).toEqual({
    contextWindow: 50,
    tools: false,
    reasoning: true,
    structuredOutput: 'final-only',
    inputModalities: ['text'],
  });
  const taking = { ...able('d', {}), selectionProblem: () => undefined };
  expect(withFallbacks([able('a', {}), taking]).capabilities({ model: 'x' }).tools).toBe(true);
  expect(withFallbacks([able('a', {}), taking]).capabilities().tools).toBe(true);
  expect(withFallbacks([able('a', {})]).capabilities()).not.toHaveProperty('contextWindow');
  expect(() => withFallbacks([])).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
});

test('only so many steps are remembered', async () => {
  const steps = Array.from({ length: 1_002 }, () => ({ text: 'par', error: busy }));
  const first = named('first', [...steps, { text: 'again' }]);
  const model = withFallbacks([first.model, named('second', [{ text: 'no' }]).model]);
  for (let index = 0; index < 1_002; index += 1)
    await expect(eventsOf(model, asking(`r${index}`))).rejects.toThrow('busy');
  expect(await eventsOf(model, asking('r0'))).toMatchObject([{ text: 'again' }, {}]);
});

test('a model whose stream cannot be left early is no hindrance', async () => {
  const given = [[{ type: 'text', text: 'a' }], [{ type: 'text', text: 'b' }]] as const;
  const plain = named('plain', [], {
    stream: () => {
      const left = [...given];
      return {
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            const value = left.shift();
            return value === undefined ? { done: true, value } : { done: false, value };
          },
        }),
      };
    },
  });
  for await (const batch of withFallbacks([plain.model]).stream(asking(), new AbortController())) {
    expect(batch).toEqual(given[0]);
    break;
  }
});
