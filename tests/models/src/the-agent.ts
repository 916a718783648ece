import {
  type AgentDefinition,
  type App,
  bind,
  bootstrap,
  defineAgent,
  defineTool,
  effects,
  Model,
  type Tool,
} from '@hexagent/agent-core';
import { memoryDurability, memoryStore } from '@hexagent/agent-core/testing';
import { Type } from 'typebox';
import type { Bench } from './adapters.ts';

const DEGREES: Readonly<Record<string, number>> = { Oslo: 4, Rome: 21 };

/** Its place among the tools of a request, which go by their names: scripts point at tools by it. */
export const LOOK = 0;
export const WRITE = 1;

const look = defineTool({
  name: 'weather.look',
  description: 'Looks up the temperature of a city.',
  input: Type.Object({ city: Type.String(), unit: Type.Optional(Type.String()) }),
  effects: effects.readOnly(),
  execute: ({ city }) => {
    const degrees = DEGREES[city];
    if (degrees === undefined) throw new Error(`There is no station in ${city}.`);
    return { city, degrees };
  },
});

/** The agent under test, and what its writing tool has written: the proof that an effect took place, and how often. */
export type TheAgent = { readonly agent: AgentDefinition; readonly written: string[] };

/** One agent for every adapter: reads without asking, asks before it writes. */
export function theAgent(): TheAgent {
  const written: string[] = [];
  return {
    agent: defineAgent({
      name: 'reporter',
      recovery: 'action-boundary',
      tools: [look, writer(written)],
    }),
    written,
  };
}

/** The same agent with a declared output. */
export const Report = Type.Object({
  city: Type.String(),
  degrees: Type.Number(),
  remark: Type.Optional(Type.String()),
});

export const reporting: AgentDefinition<{ city: string; degrees: number; remark?: string }> =
  defineAgent({
    name: 'reporter',
    recovery: 'action-boundary',
    tools: [look],
    output: Report,
  });

function writer(written: string[]): Tool {
  return defineTool({
    name: 'weather.note',
    description: 'Writes a note.',
    input: Type.Object({ text: Type.String() }),
    effects: effects.writeState(),
    approval: 'required',
    execute: ({ text }) => {
      written.push(text);
      return `wrote ${text}`;
    },
  });
}

/** An application of one agent over the model of a bench. */
export function appOver({ model }: Bench, agent: AgentDefinition): Promise<App> {
  return bootstrap({
    plugins: [memoryDurability(memoryStore())],
    provide: [bind(Model, model)],
    agents: [agent],
  });
}
