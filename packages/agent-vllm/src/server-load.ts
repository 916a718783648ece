import type { ModelLoad } from '@hexagent/agent-core';
import { modelResponseInvalid } from '@hexagent/agent-core/adapter';
import type { ServerProfile } from './server-profile.ts';

type Metrics = Exclude<ServerProfile['metrics'], 'none'>;

/** What each kind of server calls its gauges; of the names of one, the first that is there counts. */
const NAMES: Readonly<
  Record<Metrics, Readonly<Record<'running' | 'waiting' | 'cacheUsage', readonly string[]>>>
> = {
  vllm: {
    running: ['vllm:num_requests_running'],
    waiting: ['vllm:num_requests_waiting'],
    cacheUsage: ['vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc'],
  },
  sglang: {
    running: ['sglang:num_running_reqs'],
    waiting: ['sglang:num_queue_reqs'],
    cacheUsage: ['sglang:token_usage'],
  },
  'llama.cpp': {
    running: ['llamacpp:requests_processing'],
    waiting: ['llamacpp:requests_deferred'],
    cacheUsage: ['llamacpp:kv_cache_usage_ratio'],
  },
};

/**
 * Reads the text format of Prometheus. A gauge with several sets of labels, as of several engines behind one address, is
 * summed; of the use of caches the fullest counts. Throws `MODEL_RESPONSE_INVALID` where the gauges are not there.
 */
export function serverLoad(text: string, metrics: Metrics, at: string): ModelLoad {
  const names = NAMES[metrics];
  const values = (of: keyof typeof names): readonly number[] =>
    names[of].map((name) => samples(text, name)).find((found) => found.length > 0) ?? [];
  const running = values('running');
  const waiting = values('waiting');
  if (running.length === 0 || waiting.length === 0) {
    throw modelResponseInvalid({
      at,
      reason: `its metrics have no ${names.running[0]} and ${names.waiting[0]}`,
      mend: 'Switch the metrics of the server on (llama.cpp and SGLang have an option for it), or correct the profile.',
    });
  }
  const usage = values('cacheUsage');
  return {
    running: sum(running),
    waiting: sum(waiting),
    ...(usage.length === 0 ? {} : { cacheUsage: Math.max(...usage) }),
  };
}

function samples(text: string, name: string): readonly number[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith(name)) return [];
    const sample = /^(?:\{.*\})?\s+(\S+)/.exec(line.slice(name.length));
    const value = Number(sample?.[1]);
    return sample !== null && Number.isFinite(value) ? [value] : [];
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
