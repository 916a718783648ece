import type { ScriptStep } from '@hexagent/agent-core/testing';
import type { Stage } from '../stage.ts';

/** One thing that a client does with an agent, and what has to come of it. */
export type Scenario = {
  readonly name: string;
  readonly script: readonly ScriptStep[];
  readonly play: (stage: Stage) => Promise<void>;
};
