import type { AgentModel, ModelEvent, ModelRequest } from '../../model/agent-model.ts';
import type { Rule } from '../rule.ts';
import { asking, hold, same, serverOf, soon, toolNamed } from './checks.ts';
import type { ModelSubject } from './model-subject.ts';

const REASON = new Error('the contract aborts');

/** How a stream is left. */
export const stopping: readonly Rule<ModelSubject>[] = [
  {
    name: 'an aborted signal is answered with its reason',
    readOnly: true,
    check: async ({ model }) => {
      const controller = new AbortController();
      controller.abort(REASON);
      const stream = opened(model, asking('Hello'), controller.signal);
      await rejects(stream.next());
    },
  },
  {
    name: 'an abort in the middle is answered with its reason',
    readOnly: true,
    check: async ({ model }) => {
      const controller = new AbortController();
      const stream = opened(model, asking('Count to twenty.'), controller.signal);
      const first = await soon(stream.next(), 'the first batch');
      controller.abort(REASON);
      if (!isLast(first)) await rejects(stream.next());
    },
  },
  {
    name: 'no listener stays on the signal, however a stream ends',
    readOnly: true,
    check: async ({ model }) => {
      const counted = countedSignal();
      const whole = opened(model, asking('Say hello.'), counted.signal);
      for (let step = await whole.next(); step.done !== true; ) step = await whole.next();
      same(counted.listeners(), 0, 'listeners after the end');
      const left = opened(model, asking('Say hello.'), counted.signal);
      await soon(left.next(), 'the first batch');
      await left.return?.();
      same(counted.listeners(), 0, 'listeners after leaving early');
    },
  },
  {
    name: 'an abort while the server is silent rejects at once and closes the connection',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      const server = serverOf(subject);
      const request = server.requests();
      server.answer({ kind: 'stream', text: ['a'], ending: 'silence' });
      const controller = new AbortController();
      const stream = opened(subject.model, asking('Hello'), controller.signal);
      await soon(stream.next(), 'the first batch');
      const pending = stream.next();
      controller.abort(REASON);
      await rejects(pending);
      await soon(server.broken(request), 'the end of the connection');
      const after = await soon(stream.next(), 'an answer after the end');
      hold(after.done === true, 'the stream goes on after its error');
    },
  },
  {
    name: 'an abort at any event is answered with its reason, closes the connection and leaves no listener',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      for (let seen = 0; seen <= EVENTS; seen += 1) await abortAfter(subject, seen);
    },
  },
  {
    name: 'no listener stays on the signal after an error',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      for (const ending of ['end', 'reset', 'error'] as const) {
        serverOf(subject).answer({ kind: 'stream', text: ['par'], ending });
        const counted = countedSignal();
        const stream = opened(subject.model, asking('Hello'), counted.signal);
        const reading = async (): Promise<void> => {
          for (let step = await stream.next(); step.done !== true; ) step = await stream.next();
        };
        const isFailed = await soon(
          reading().then(
            () => false,
            () => true,
          ),
          'the error',
        );
        hold(isFailed, `an answer that ends with "${ending}" is no error`);
        same(counted.listeners(), 0, `listeners after "${ending}"`);
      }
    },
  },
  {
    name: 'an abort before the first byte rejects at once and closes the connection',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      const server = serverOf(subject);
      const request = server.requests();
      server.answer({ kind: 'stream', ending: 'silence' });
      const controller = new AbortController();
      const stream = opened(subject.model, asking('Hello'), controller.signal);
      const pending = stream.next();
      const broken = server.broken(request);
      await soon(
        until(() => server.requests() > request),
        'the request',
      );
      controller.abort(REASON);
      await rejects(pending);
      await soon(broken, 'the end of the connection');
    },
  },
  {
    name: 'leaving early closes the connection, also while a read is pending',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      const server = serverOf(subject);
      for (const isPending of [false, true]) {
        const request = server.requests();
        server.answer({ kind: 'stream', text: ['a'], ending: 'silence' });
        const stream = opened(subject.model, asking('Hello'), new AbortController().signal);
        await soon(stream.next(), 'the first batch');
        const pending = isPending ? stream.next() : undefined;
        await soon(Promise.resolve(stream.return?.()), 'the return');
        if (pending !== undefined) {
          const step = await soon(pending, 'the end of the pending read');
          hold(step.done === true, 'a pending read got a batch after the return');
        }
        await soon(server.broken(request), 'the end of the connection');
      }
    },
  },
];

/** Of the answer below, those that no adapter can hold back. */
const EVENTS = 4;

/** Reads so many events of an answer that then falls silent, and aborts with a read on its way. */
async function abortAfter(subject: ModelSubject, seen: number): Promise<void> {
  const server = serverOf(subject);
  const request = server.requests();
  server.answer({
    kind: 'stream',
    reasoning: 'Hm.',
    text: ['a', 'b', 'c'],
    calls: [{ tool: 0, arguments: '{"q":"d"}' }],
    ending: 'silence',
  });
  const { signal, listeners, abort } = countedSignal();
  const stream = opened(subject.model, asking('Go.', { tools: [toolNamed('a.b')] }), signal);
  let events = 0;
  while (events < seen) {
    const step = await soon(stream.next(), `event ${events + 1}`);
    hold(step.done !== true, `the stream has ended after ${events} events`);
    events += (step.value as readonly ModelEvent[]).length; // It has not ended.
  }
  const pending = stream.next();
  await soon(
    until(() => server.requests() > request),
    'the request',
  );
  abort(REASON);
  const last = await soon(settled(pending), 'an answer to the abort');
  // What was there already may still come; nothing comes after it.
  if (last.kind === 'step') await rejects(stream.next());
  else same(last.reason === REASON, true, `after ${seen} events, the reason of the signal`);
  await soon(server.broken(request), 'the end of the connection');
  same(listeners(), 0, `listeners after an abort behind ${seen} events`);
  const after = await soon(stream.next(), 'an answer after the end');
  hold(after.done === true, 'the stream goes on after its error');
}

type Settled = { readonly kind: 'step' } | { readonly kind: 'failed'; readonly reason: unknown };

function settled(pending: Promise<Step>): Promise<Settled> {
  return pending.then(
    () => ({ kind: 'step' }) as const,
    (reason: unknown) => ({ kind: 'failed', reason }) as const,
  );
}

type Step = IteratorResult<readonly ModelEvent[]>;

function opened(
  model: AgentModel,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncIterator<readonly ModelEvent[]> {
  return model.stream(request, { signal })[Symbol.asyncIterator]();
}

async function rejects(pending: Promise<Step>): Promise<void> {
  const seen = await soon(
    pending.then(
      (step) => `a result: ${JSON.stringify(step)}`,
      (error: unknown) => error,
    ),
    'the rejection',
  );
  hold(seen === REASON, `expected the reason of the signal, saw ${String(seen)}`);
}

function isLast(step: Step): boolean {
  return step.done === true || step.value.at(-1)?.type === 'finish';
}

async function until(claim: () => boolean): Promise<void> {
  while (!claim()) await new Promise<void>((resolve) => setTimeout(resolve, 1));
}

type Counted = {
  readonly signal: AbortSignal;
  readonly listeners: () => number;
  abort(reason: unknown): void;
};

/** A signal, and the number of listeners that were put on it and not taken off; those of an abort are gone with it. */
function countedSignal(): Counted {
  const controller = new AbortController();
  const { signal } = controller;
  const listening = new Set<unknown>();
  const once = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  Object.assign(signal, {
    addEventListener: (...args: Parameters<typeof add>) => {
      listening.add(args[1]);
      const options = args[2];
      if (typeof options === 'object' && options.once === true) once.add(args[1]);
      add(...args);
    },
    removeEventListener: (...args: Parameters<typeof remove>) => {
      listening.delete(args[1]);
      remove(...args);
    },
  });
  return {
    signal,
    listeners: () => listening.size,
    abort: (reason) => {
      controller.abort(reason);
      for (const listener of once) listening.delete(listener);
    },
  };
}
