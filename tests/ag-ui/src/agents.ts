import {
  type AgentDefinition,
  defineAgent,
  defineTool,
  effects,
  runControls,
  suspend,
  type Tool,
} from '@hexagent/agent-core';
import { Type } from 'typebox';

/** What the tools of one stage have done and wait for. */
export type World = {
  readonly paid: { readonly to: string; readonly amount: number }[];
  readonly looked: string[];
  /** `slow.look` is under way. */
  readonly slow: PromiseWithResolvers<void>;
  /** The signal of `slow.look` was aborted. */
  readonly stopped: PromiseWithResolvers<void>;
  /** Lets `slow.look` go on. */
  readonly go: PromiseWithResolvers<void>;
};

type PromiseWithResolvers<T> = {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
};

function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

export function newWorld(): World {
  return {
    paid: [],
    looked: [],
    slow: withResolvers(),
    stopped: withResolvers(),
    go: withResolvers(),
  };
}

function toolsOf(world: World): readonly Tool[] {
  const weather = defineTool({
    name: 'weather.now',
    description: 'The weather in a city.',
    input: Type.Object({ city: Type.String() }),
    effects: effects.readOnly(),
    execute: ({ city }, tool) => {
      world.looked.push(city);
      tool.progress(`Looking out of the window in ${city}.`, { city });
      return `Rain in ${city}.`;
    },
  });
  const pay = defineTool({
    name: 'money.pay',
    description: 'Pays somebody.',
    input: Type.Object({ to: Type.String(), amount: Type.Number() }),
    effects: effects.writeState(),
    approval: 'required',
    execute: (payment) => {
      world.paid.push(payment);
      return { paid: payment.amount, to: payment.to };
    },
  });
  const colour = defineTool({
    name: 'user.colour',
    description: 'Asks the user for a colour.',
    input: Type.Object({}),
    effects: effects.readOnly(),
    execute: () =>
      suspend({
        kind: 'input',
        message: 'Which colour?',
        schema: {
          type: 'object',
          properties: { colour: { type: 'string' } },
          required: ['colour'],
        },
      }),
  });
  const signIn = defineTool({
    name: 'user.sign-in',
    description: 'Signs the user in.',
    input: Type.Object({}),
    effects: effects.readOnly(),
    execute: () =>
      suspend({ kind: 'auth', url: 'https://login.example/start', message: 'Sign in, please.' }),
    resume: (_input, { resolution }) =>
      resolution.kind === 'resolved' ? 'Signed in.' : 'Not signed in.',
  });
  const receipt = defineTool({
    name: 'parcel.wait',
    description: 'Waits until a parcel is there.',
    input: Type.Object({}),
    effects: effects.readOnly(),
    execute: () => suspend({ kind: 'event', name: 'parcel' }),
  });
  const note = defineTool({
    name: 'note.keep',
    description: 'Keeps a note.',
    input: Type.Object({ text: Type.String() }),
    effects: effects.readOnly(),
    execute: ({ text }, tool) => {
      tool.state.patch([{ op: 'add', path: '/note', value: text }]);
      tool.artifact({ id: 'note', name: 'note.txt', parts: [{ type: 'text', text }] });
      return 'Kept.';
    },
  });
  const slow = defineTool({
    name: 'slow.look',
    description: 'Takes its time.',
    input: Type.Object({}),
    effects: effects.readOnly(),
    execute: async (_input, { signal }) => {
      world.slow.resolve();
      const stopped = new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          world.stopped.resolve();
          reject(signal.reason);
        });
      });
      await Promise.race([world.go.promise, stopped]);
      return 'Seen.';
    },
  });
  return [weather, pay, colour, signIn, receipt, note, slow];
}

/** Durable: the server keeps its conversations. */
export function clerk(world: World): AgentDefinition {
  return defineAgent({
    name: 'clerk',
    objective: 'Looks things up and pays.',
    recovery: 'action-boundary',
    accepts: ['user-message', 'pause', 'resume', 'external-event'],
    tools: [...toolsOf(world)],
  });
}

/** Stateless: the client keeps its conversations. */
export function chat(world: World): AgentDefinition {
  return defineAgent({
    name: 'chat',
    tools: [...toolsOf(world)].filter(({ name }) => name === 'weather.now' || name === 'slow.look'),
  });
}

/** A loop of its own, whose body asks while it goes on. */
export function teller(world: World): AgentDefinition {
  return defineAgent({
    name: 'teller',
    recovery: 'action-boundary',
    tools: [...toolsOf(world)],
    execute: async function* (_input, context) {
      yield { kind: 'token', text: 'Counting.' };
      await runControls(context).runTool({ name: 'money.pay', input: { to: 'Ann', amount: 5 } });
      yield { kind: 'token', text: ' Counted.' };
    },
  });
}
