import type { RunId } from '@hexagent/agent-core';
import type { Owner } from './attribution.ts';

/** Where an event stands. */
export type Place = {
  readonly stepId: string | undefined;
  readonly seq: number;
  readonly owner: Owner;
  readonly rootRunId: RunId;
};
