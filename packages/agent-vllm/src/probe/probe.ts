import type { ModelFinding } from '@hexagent/agent-core';
import type { ServerProfile } from '../server-profile.ts';
import type { ProbeBench } from './probe-bench.ts';

/** What a probe has found, and what follows for the profile. */
export type ProbeResult = {
  readonly findings: readonly ModelFinding[];
  readonly profile?: Partial<ServerProfile>;
};

/** A look at one ability of a server. */
export type Probe = {
  /** The name of the finding when the probe cannot be made. */
  readonly name: string;
  readonly look: (bench: ProbeBench, signal: AbortSignal) => Promise<ProbeResult>;
};

export function finding(
  name: string,
  status: ModelFinding['status'],
  detail: string,
): ModelFinding {
  return { type: 'finding', name, status, detail };
}

/** The words of an error on one line. */
export function wordsOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').slice(0, 300);
}

/** A message of the user, and how long its answer may be. */
export function question(text: string, maxTokens: number) {
  return {
    messages: [{ role: 'user', content: text }],
    max_tokens: maxTokens,
    temperature: 0,
    stream: true,
  } as const;
}
