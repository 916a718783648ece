import type { JsonObject } from '@hexagent/agent-core';
import { isJsonObject, parseJson } from '@hexagent/agent-core/adapter';
import { finding, type Probe, question, wordsOf } from './probe.ts';
import { askServer, type ProbeAnswer } from './probe-bench.ts';
import { isRefusal } from './stream-probes.ts';
import { TOOLS, WEATHER } from './tool-probes.ts';

const schema: JsonObject = {
  type: 'object',
  properties: { answer: { type: 'integer' } },
  required: ['answer'],
  additionalProperties: false,
};
const FORMAT: JsonObject = {
  response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
};

/** Answers of a schema, alone and beside tools. */
export const schemaProbes: readonly Probe[] = [
  {
    name: 'schema alone',
    look: async (bench, signal) => {
      const asked = { ...question('How much is 3 plus 4? Answer as JSON.', 96), ...FORMAT };
      const found = fitting(await asking(() => askServer(bench, asked, signal)));
      const structuredOutput = found.status === 'yes' ? 'final-only' : 'none';
      return { findings: [found], profile: { structuredOutput } };
    },
  },
  {
    name: 'schema beside tools',
    look: async (bench, signal) => {
      if (bench.found.structuredOutput === 'none') {
        return { findings: [finding('schema beside tools', 'no', 'it holds to none at all')] };
      }
      const asked = { ...question(WEATHER, 128), tools: TOOLS, ...FORMAT };
      const found = calling(await asking(() => askServer(bench, asked, signal)));
      return found.status === 'yes'
        ? { findings: [found], profile: { structuredOutput: 'with-tools' } }
        : { findings: [found] };
    },
  },
];

async function asking(ask: () => Promise<ProbeAnswer>): Promise<ProbeAnswer | string> {
  try {
    const answer = await ask();
    return answer.failure === undefined ? answer : wordsOf(answer.failure);
  } catch (error) {
    if (isRefusal(error)) return wordsOf(error);
    throw error;
  }
}

function fitting(seen: ProbeAnswer | string): ReturnType<typeof finding> {
  const name = 'schema alone';
  if (typeof seen === 'string') return finding(name, 'no', seen);
  const value = parseJson(seen.text);
  const isFit = value !== undefined && isJsonObject(value) && Number.isInteger(value['answer']);
  return finding(name, isFit ? 'yes' : 'no', JSON.stringify(seen.text.slice(0, 80)));
}

function calling(seen: ProbeAnswer | string): ReturnType<typeof finding> {
  const name = 'schema beside tools';
  if (typeof seen === 'string') return finding(name, 'no', seen);
  return seen.calls.length > 0
    ? finding(name, 'yes', 'the model still calls')
    : finding(name, 'no', 'the schema keeps the model from calling: it is for the last turn only');
}
