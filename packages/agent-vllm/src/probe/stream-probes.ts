import type { JsonObject, JsonValue } from '@hexagent/agent-core';
import { AgentError, isJsonObject } from '@hexagent/agent-core/adapter';
import type { ServerProfile } from '../server-profile.ts';
import { finding, type Probe, type ProbeResult, question, wordsOf } from './probe.ts';
import { askServer, type ProbeAnswer, type ProbeBench } from './probe-bench.ts';

const GREETING = 'Hello!';

/** Streams, what they carry beside the text, and how the length of an answer is limited. */
export const streamProbes: readonly Probe[] = [
  {
    name: 'streaming',
    look: async (bench, signal) => {
      const { answer, usage } = await streamed(bench, signal);
      if (answer.failure !== undefined) throw answer.failure;
      const detail = answer.isStream
        ? `${answer.chunks.length} chunks`
        : 'it answers with the whole text at once: use the option stream: false';
      return {
        findings: [finding('streaming', answer.isStream ? 'yes' : 'no', detail), usage],
        profile: { streamUsage: usage.status === 'yes' },
      };
    },
  },
  {
    name: 'max_completion_tokens',
    look: async (bench, signal) => {
      const { max_tokens: _, ...asked } = question(GREETING, 0);
      try {
        const answer = await askServer(bench, { ...asked, max_completion_tokens: 2 }, signal);
        return held(answer);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        return {
          findings: [finding('max_completion_tokens', 'no', wordsOf(error))],
          profile: { maxTokensField: 'max_tokens' },
        };
      }
    },
  },
  {
    name: 'reasoning',
    look: async (bench, signal) => {
      const asked = question('Think step by step: how much is 17 plus 25?', 128);
      return reasoningIn(await askServer(bench, asked, signal));
    },
  },
];

function held({ events }: ProbeAnswer): ProbeResult {
  const name = 'max_completion_tokens';
  const finish = events.at(-1);
  const isHeld = finish?.type === 'finish' && finish.reason === 'length';
  if (isHeld) return { findings: [finding(name, 'yes', 'the answer is held to it')] };
  return {
    findings: [finding(name, 'no', 'the answer went on')],
    profile: { maxTokensField: 'max_tokens' },
  };
}

/** An answer that was streamed, with its usage asked for where that is not refused. */
async function streamed(bench: ProbeBench, signal: AbortSignal) {
  const name = 'usage in a stream';
  const asked = question(GREETING, 16);
  try {
    const answer = await askServer(
      bench,
      { ...asked, stream_options: { include_usage: true } },
      signal,
    );
    const { usage } = answer;
    return {
      answer,
      usage:
        usage === undefined
          ? finding(name, 'no', 'none came')
          : finding(name, 'yes', `${tokens(usage['prompt_tokens'])} of input counted`),
    };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const answer = await askServer(bench, asked, signal);
    return { answer, usage: finding(name, 'no', wordsOf(error)) };
  }
}

/** True for what the server does not take, as opposed to what did not work. */
export function isRefusal(error: unknown): error is AgentError {
  return AgentError.is(error) && error.code === 'MODEL_REQUEST_INVALID';
}

function tokens(value: JsonValue | undefined): string {
  return typeof value === 'number' ? `${value} tokens` : 'tokens';
}

const FIELDS = ['reasoning_details', 'reasoning', 'reasoning_content'] as const;

/** The field of the reasoning is also the name by which it goes back. */
function reasoningIn({ chunks, text }: ProbeAnswer): ProbeResult {
  const seen = FIELDS.filter((field) => chunks.some((chunk) => hasText(deltaOf(chunk)?.[field])));
  const [first] = seen;
  if (first !== undefined) {
    const profile: Partial<ServerProfile> = { reasoningReplay: first };
    return { findings: [finding('reasoning', 'yes', `in ${seen.join(' and ')}`)], profile };
  }
  const detail = /<think>/i.test(text)
    ? 'it stands in the text, as <think>: give the server a reasoning parser'
    : 'none came: the model does not think, or not of itself';
  return { findings: [finding('reasoning', /<think>/i.test(text) ? 'no' : 'unknown', detail)] };
}

function deltaOf(chunk: JsonObject): JsonObject | undefined {
  const { choices } = chunk;
  const choice: JsonValue | undefined = Array.isArray(choices) ? choices[0] : undefined;
  if (choice === undefined || !isJsonObject(choice)) return undefined;
  const delta = choice['delta'] ?? choice['message'];
  return delta !== undefined && isJsonObject(delta) ? delta : undefined;
}

function hasText(value: JsonValue | undefined): boolean {
  return (typeof value === 'string' && value !== '') || (Array.isArray(value) && value.length > 0);
}
