import type { JsonObject } from '@hexagent/agent-core';
import { isJsonObject } from '@hexagent/agent-core/adapter';
import type { ServerProfile } from '../server-profile.ts';
import { finding, type Probe, question, wordsOf } from './probe.ts';
import { askServer, type ProbeAnswer } from './probe-bench.ts';
import { isRefusal } from './stream-probes.ts';

const CITY: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const SUM: JsonObject = {
  type: 'object',
  properties: { a: { type: 'integer' }, b: { type: 'integer' } },
  required: ['a', 'b'],
  additionalProperties: false,
};

function tool(name: string, parameters: JsonObject, more: JsonObject = {}): JsonObject {
  const description = name === 'add' ? 'The sum of two numbers.' : 'The weather in a city.';
  return { type: 'function', function: { name, description, parameters, ...more } };
}

export const TOOLS: readonly JsonObject[] = [tool('get_weather', CITY), tool('add', SUM)];
const STRICT = [tool('get_weather', CITY, { strict: true }), tool('add', SUM, { strict: true })];
export const WEATHER = 'What is the weather in Paris?';

/** Tools, and whether they can be chosen for the model. */
export const toolProbes: readonly Probe[] = [
  {
    name: 'tools',
    look: async (bench, signal) => {
      const answer = await askServer(bench, { ...question(WEATHER, 128), tools: TOOLS }, signal);
      return { findings: [called('tools', answer, 'get_weather')] };
    },
  },
  {
    name: 'parallel tools',
    look: async (bench, signal) => {
      const asked = question('What is the weather in London and Oslo?', 192);
      const { calls } = await askServer(bench, { ...asked, tools: TOOLS }, signal);
      const status = calls.length > 1 ? 'yes' : 'no';
      return { findings: [finding('parallel tools', status, `${calls.length} calls at once`)] };
    },
  },
  {
    name: 'choice of tools',
    look: async (bench, signal) => {
      const choose = async (
        tools: readonly JsonObject[],
        choice: string | JsonObject,
      ): Promise<ProbeAnswer | string> => {
        try {
          // Of itself no model calls a tool for that.
          const asked = question('Hello!', 128);
          return await askServer(bench, { ...asked, tools, tool_choice: choice }, signal);
        } catch (error) {
          if (isRefusal(error)) return wordsOf(error);
          throw error;
        }
      };
      const required = chosen('required tool', await choose(TOOLS.slice(1), 'required'));
      const name = { type: 'function', function: { name: 'add' } } as const;
      const named = chosen('named tool', await choose(TOOLS, name), 'add');
      return { findings: [required, named], profile: { toolChoice: choiceOf(required, named) } };
    },
  },
  {
    name: 'strict tools',
    look: async (bench, signal) => {
      try {
        const answer = await askServer(bench, { ...question(WEATHER, 128), tools: STRICT }, signal);
        if (answer.failure !== undefined) throw answer.failure;
        const detail = 'taken; whether the arguments are held to the schema cannot be seen';
        return { findings: [finding('strict tools', 'yes', detail)] };
      } catch (error) {
        if (!isRefusal(error)) throw error;
        return {
          findings: [finding('strict tools', 'no', wordsOf(error))],
          profile: { strictTools: false },
        };
      }
    },
  },
];

type Finding = ReturnType<typeof finding>;

function called(name: string, { calls, failure, text }: ProbeAnswer, wanted: string): Finding {
  if (failure !== undefined) return finding(name, 'no', wordsOf(failure));
  const [call] = calls;
  if (call === undefined) {
    return finding(name, 'no', `it answered in words: ${JSON.stringify(text.slice(0, 80))}`);
  }
  const isWell = call.name === wanted && call.input !== undefined && isJsonObject(call.input);
  const shown = `${call.name}(${JSON.stringify(call.input) ?? 'broken arguments'})`;
  return finding(name, isWell ? 'yes' : 'no', shown);
}

function chosen(name: string, seen: ProbeAnswer | string, wanted?: string): Finding {
  if (typeof seen === 'string') return finding(name, 'no', seen);
  if (seen.failure !== undefined) return finding(name, 'no', wordsOf(seen.failure));
  const names = seen.calls.map((call) => call.name);
  const isMet = wanted === undefined ? names.length > 0 : names[0] === wanted;
  const detail = names.length === 0 ? 'it called nothing' : `it called ${names.join(', ')}`;
  return finding(name, isMet ? 'yes' : 'no', detail);
}

function choiceOf(required: Finding, named: Finding): ServerProfile['toolChoice'] {
  if (required.status !== 'yes') return 'ignored';
  return named.status === 'yes' ? 'all' : 'only-that-tool';
}
