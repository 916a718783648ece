import type { Stop } from '../base/abort.ts';
import type { RunId } from '../base/ids.ts';
import type { Binding, Port } from '../base/port.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import type { Caller } from '../gateway/caller.ts';
import type { Pruned, PruneOptions } from '../gateway/prune-runs.ts';
import type { RunGateway } from '../gateway/run-gateway.ts';
import type { RunHandle } from '../gateway/run-handle.ts';
import type { ModelCapabilities } from '../model/agent-model.ts';
import type { ModelSelection } from '../vocabulary/model-selection.ts';
import type { RunResult } from '../vocabulary/outcome.ts';
import type { RunInput } from '../vocabulary/run-input.ts';
import type { Principal, Scope } from '../vocabulary/scope.ts';
import type { Plugin } from './plugin.ts';

/** The default export of `hexagent.config.ts`. `start: false` checks and sets up but starts nothing: `doctor`, `migrate`, `plugins`. */
export type AppConfig = {
  readonly plugins: readonly Plugin[];
  readonly provide?: readonly Binding[];
  readonly agents: readonly AgentDefinition[];
  readonly start?: boolean;
  /**
   * After how many milliseconds of silence another process may take over a durable run of this one. From
   * 1,000; default 30,000. The owner stops by itself before that, so a shorter lease recovers sooner from a
   * crash and bears less of a store that is slow or away.
   */
  readonly leaseMs?: number;
  /**
   * How many milliseconds `close` waits for tools that run, before their durable runs are abandoned rather than given
   * back. From 0 to 600,000; default 5,000.
   */
  readonly drainMs?: number;
  /**
   * What callers may select, whatever the agents say: nothing (`false`), or one of these, each exactly as it stands here.
   * Left out, whatever the agent and the model take.
   */
  readonly selection?: false | readonly ModelSelection[];
};

export type StartOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Default: `local('local')`. */
  readonly principal?: Principal;
};

/** A composed application. */
export interface App {
  readonly runs: RunGateway;
  /** A caller for code that is already inside the trust boundary (CLI, jobs, tests). Default scope: `{ tenantId: 'local' }`. */
  local(subject: string, scope?: Scope): Caller;
  run<O>(
    agent: AgentDefinition<O>,
    input: string | RunInput,
    options?: StartOptions,
  ): Promise<RunResult<O>>;
  start<O>(
    agent: AgentDefinition<O>,
    input: string | RunInput,
    options?: StartOptions,
  ): Promise<RunHandle<O>>;
  /** `runs.resume`, typed. */
  attach<O>(
    agent: AgentDefinition<O>,
    runId: RunId,
    options?: { readonly principal?: Principal },
  ): Promise<RunHandle<O>>;
  /** What the model can do that a run with this selection would ask; undefined without a model. */
  capabilities(selection?: ModelSelection): ModelCapabilities | undefined;
  /** What is bound to a port: `doctor`, `migrate`. */
  all<T>(port: Port<T, 'one' | 'many'>): readonly T[];
  /** Claims what is claimable now and drives it until it rests, several runs at once; answers how many. */
  recover(stop: Stop): Promise<number>;
  /** For dispatchers and workers: claim this run, go on until it pauses or ends; does nothing if somebody owns it. */
  drive(rootRunId: RunId, stop: Stop): Promise<void>;
  /** Retention: removes what has ended long ago, and old events of what goes on. Cannot be undone. */
  prune(options: PruneOptions): Promise<Pruned>;
  /**
   * In reverse order of start, bounded; safe to call twice. Durable runs are given back at their next safe boundary
   * (see `drainMs`), so that another process goes on with them at once; stateless runs end.
   */
  close(): Promise<void>;
}
