import { inputInvalid, type Problem } from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import type { RunOutcome } from '../vocabulary/outcome.ts';

/** How a run came to rest in the hands of a worker. `lost`: another owner has it. */
export type WorkerRest = RunOutcome['kind'] | 'paused' | 'given-back' | 'lost';

/** What a worker does. `failed`: the store is away (no `runId`; it tries again), or one run cannot be driven here now. */
export type WorkerReport =
  | {
      readonly type: 'claimed';
      readonly runId: RunId;
      readonly agent: string;
      /** Claims since the last progress, this one among them. */
      readonly deliveries: number;
    }
  | {
      readonly type: 'rested';
      readonly runId: RunId;
      readonly agent: string;
      readonly rest: WorkerRest;
    }
  | { readonly type: 'failed'; readonly runId?: RunId; readonly error: unknown };

export type WorkerOptions = {
  /** How many runs at once. From 1 to 1,000; default 4. */
  readonly concurrency?: number;
  /**
   * How many of them may be of one agent. Default: all but one place where several agents are durable, so that
   * one whose runs hang does not keep the others from running.
   */
  readonly perAgent?: number;
  /**
   * The time between two looks for work, in milliseconds, give or take a quarter. From 10 to 600,000; default 1,000.
   * A store that can say that something has become claimable is heard sooner; timers wait for the next look.
   */
  readonly pollMs?: number;
  /** How long `drain` waits for tools that run, in milliseconds. From 0 to 3,600,000; default 20,000. */
  readonly graceMs?: number;
  /** Hears what the worker does; what it throws is ignored. */
  readonly report?: (report: WorkerReport) => void;
};

/** Drives runs that nobody drives: of processes that died, of deploys, of timers and answers that came while nobody was there. */
export interface Worker {
  /** How many runs it drives now. */
  readonly running: number;
  /** Begins to claim. A second call, and one after `drain`, does nothing. */
  start(): void;
  /**
   * Takes on no more, and gives back what it drives, each run at its next safe boundary: a model call is
   * stopped and made again by the next owner, a tool that runs may finish. What is not given back after
   * `graceMs` (default: of the options) is abandoned: another owner goes on when its lease is over. Never rejects.
   */
  drain(options?: { readonly graceMs?: number }): Promise<void>;
}

export type CheckedWorkerOptions = Required<WorkerOptions> & {
  /** The names of the agents that can be claimed at all. */
  readonly agents: readonly string[];
};

const RANGES = {
  concurrency: [1, 1_000],
  perAgent: [1, 1_000],
  pollMs: [10, 600_000],
  graceMs: [0, 3_600_000],
} as const;

/** @throws AgentError `INPUT_INVALID` with everything that is wrong. */
export function checkedWorkerOptions(
  options: WorkerOptions,
  agents: Iterable<AgentDefinition>,
): CheckedWorkerOptions {
  const durable = [...agents].filter((agent) => agent.durable).map(({ name }) => name);
  const problems: Problem[] = Object.entries(RANGES).flatMap(([at, [least, most]]) => {
    const value = options[at as keyof typeof RANGES];
    const fits =
      value === undefined || (Number.isInteger(value) && value >= least && value <= most);
    const mend = `Use a whole number from ${least} to ${most}.`;
    return fits ? [] : [{ at, seen: `is ${JSON.stringify(value)}.`, mend }];
  });
  if (durable.length === 0)
    problems.push({
      at: 'app',
      seen: 'has no durable agent, so there is nothing to claim.',
      mend: 'Give an agent `recovery: "action-boundary"`, and the application a store.',
    });
  if (problems.length > 0) throw inputInvalid('createWorker', problems);
  const { concurrency = 4, pollMs = 1_000, graceMs = 20_000, report = () => undefined } = options;
  const { perAgent = durable.length > 1 ? Math.max(1, concurrency - 1) : concurrency } = options;
  return { concurrency, perAgent, pollMs, graceMs, report, agents: durable };
}
