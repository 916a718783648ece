import type { AgentModel, ModelEvent, ModelRequest } from '../../model/agent-model.ts';
import type { Rule } from '../rule.ts';
import { asking, hold, same, serverOf, soon } from './checks.ts';
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

/** A signal that nobody aborts, and the number of listeners on it. */
function countedSignal(): { readonly signal: AbortSignal; readonly listeners: () => number } {
  const { signal } = new AbortController();
  const listening = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  Object.assign(signal, {
    addEventListener: (...args: Parameters<typeof add>) => {
      listening.add(args[1]);
      add(...args);
    },
    removeEventListener: (...args: Parameters<typeof remove>) => {
      listening.delete(args[1]);
      remove(...args);
    },
  });
  return { signal, listeners: () => listening.size };
}
