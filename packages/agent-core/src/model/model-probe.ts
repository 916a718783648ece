import type { Stop } from '../base/abort.ts';
import { definePort, type Port } from '../base/port.ts';

/** One thing that was found out about a model server. */
export type ModelFinding = {
  readonly type: 'finding';
  /** What was looked at, in words: `parallel tools`. */
  readonly name: string;
  /** `unknown`: it could not be found out; `detail` says why. */
  readonly status: 'yes' | 'no' | 'unknown';
  /** What was seen. */
  readonly detail: string;
};

/** What follows from the findings. */
export type ModelConclusion = {
  readonly type: 'conclusion';
  /** The model that was asked. */
  readonly model: string;
  /** The plugin with the options that fit the server, as code to paste; no secrets. */
  readonly code: string;
};

/**
 * Looks at a live model server, for a person who sets one up. A port of its own, not a member of `AgentModel`: it is about a
 * server, which stays what it is behind whatever router or wrapper an application puts before its models.
 */
export interface ModelProbe {
  /** The provider that it looks at. */
  readonly id: string;
  /**
   * Sends small requests, each bounded in time and tokens, and gives what it finds as it finds it. What cannot be found out
   * is a finding; it throws only when there is no server or no model to ask, and `signal.reason` once aborted. The last
   * event is the conclusion.
   */
  probe(stop: Stop): AsyncIterable<ModelFinding | ModelConclusion>;
}

export const ModelProbe: Port<ModelProbe, 'many'> = definePort<ModelProbe>('model-probe', {
  arity: 'many',
});
