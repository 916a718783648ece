import { AgentError, overflowOf } from '@hexagent/agent-core/adapter';
import { serverLoad } from '../server-load.ts';
import type { ServerProfile } from '../server-profile.ts';
import { tokenCounter } from '../token-count.ts';
import { finding, type Probe, type ProbeResult, question, wordsOf } from './probe.ts';
import { askServer, type ProbeBench } from './probe-bench.ts';

/** A prompt for a larger window would be megabytes. */
const LARGEST_WINDOW = 300_000;

/** Tokens, and what becomes of too many of them. */
export const limitProbes: readonly Probe[] = [
  {
    name: 'token count',
    look: async (bench, signal) => {
      for (const tokenCount of ['tokenize-messages', 'template-then-tokenize'] as const) {
        const count = await counted(bench, tokenCount, signal);
        if (count === undefined) continue;
        const { usage } = await askServer(
          bench,
          { ...question('Hello!', 1), stream: false },
          signal,
        );
        const said = usage?.['prompt_tokens'];
        const isExact = said === count;
        const detail = isExact
          ? `${count}, the same as the usage says`
          : `${count}, and the usage says ${said === undefined ? 'nothing' : String(said)}`;
        return {
          findings: [finding('token count', isExact ? 'yes' : 'unknown', detail)],
          profile: { tokenCount },
        };
      }
      const detail = 'neither /tokenize with messages nor /apply-template is there';
      return {
        findings: [finding('token count', 'no', detail)],
        profile: { tokenCount: 'none' },
      };
    },
  },
  {
    name: 'load',
    look: async (bench, signal) => {
      const found = await loadOf(bench, signal);
      if (found === undefined) {
        const detail = '/metrics is not there, or has no gauges that are known';
        return { findings: [finding('load', 'no', detail)], profile: { metrics: 'none' } };
      }
      const { running, waiting, metrics } = found;
      const detail = `${running} running, ${waiting} waiting, in the names of ${metrics}`;
      return { findings: [finding('load', 'yes', detail)], profile: { metrics } };
    },
  },
  { name: 'overflow', look: overflowing },
];

async function counted(
  { connection, settings, model }: ProbeBench,
  tokenCount: Exclude<ServerProfile['tokenCount'], 'none'>,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { rootUrl, profile } = settings;
  const count = tokenCounter(connection, { rootUrl, profile: { ...profile, tokenCount } });
  const { messages } = question('Hello!', 1);
  try {
    const body = JSON.stringify({ model, messages, add_generation_prompt: true });
    return (await count?.(body, signal))?.count;
  } catch (error) {
    if (AgentError.is(error)) return undefined;
    throw error;
  }
}

/** The load of a server, by whichever names it uses. */
export async function loadOf({ connection, settings }: ProbeBench, signal: AbortSignal) {
  const url = `${settings.rootUrl}/metrics`;
  for (const metrics of ['vllm', 'sglang', 'llama.cpp'] as const) {
    try {
      const text = await connection.text({ method: 'GET', url, accept: 'text/plain' }, signal);
      return { ...serverLoad(text, metrics, url), metrics };
    } catch (error) {
      if (!AgentError.is(error)) throw error;
    }
  }
  return undefined;
}

async function overflowing(bench: ProbeBench, signal: AbortSignal): Promise<ProbeResult> {
  const { window } = bench;
  if (window === undefined || window > LARGEST_WINDOW) {
    const why = window === undefined ? 'is not known' : `of ${window} tokens is too large to fill`;
    return { findings: [finding('overflow', 'unknown', `the window ${why}`)] };
  }
  // A digit and a space are at least a token together.
  const text = Array.from({ length: window + 64 }, (_, index) => index % 10).join(' ');
  try {
    const { usage, failure } = await askServer(bench, { ...question(text, 1) }, signal);
    if (failure !== undefined) throw failure;
    const kept = usage?.['prompt_tokens'];
    const detail = `it took a prompt of more than ${window} tokens${kept === undefined ? '' : `, and counted ${String(kept)}`}: it cuts prompts without a word`;
    return { findings: [finding('overflow', 'no', detail)], profile: { overflow: 'truncated' } };
  } catch (error) {
    if (!AgentError.is(error)) throw error;
    return { findings: [refusedWith(error)], profile: { overflow: 'refused' } };
  }
}

function refusedWith(error: AgentError): ReturnType<typeof finding> {
  const overflow = overflowOf(error);
  if (overflow === undefined) {
    return finding('overflow', 'unknown', `${error.code}, in other words: ${wordsOf(error)}`);
  }
  const { window, inputTokens, isExact } = overflow;
  const prompt =
    inputTokens === undefined ? '' : `, prompt ${isExact ? '' : 'at least '}${inputTokens}`;
  return finding('overflow', 'yes', `recognised: window ${String(window ?? 'not told')}${prompt}`);
}
