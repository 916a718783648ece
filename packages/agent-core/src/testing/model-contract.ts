import { failures } from './model-contract/failures.ts';

import type { ModelSubject } from './model-contract/model-subject.ts';
import { stopping } from './model-contract/stopping.ts';
import { streaming } from './model-contract/streaming.ts';
import type { Rule } from './rule.ts';

export type {
  ModelSubject,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedServer,
} from './model-contract/model-subject.ts';

/**
 * Every promise of `AgentModel`, as data. A rule passes when its `check` resolves. Rules without
 * `needs` run against any model, a real one too (each costs a few tokens); `server` needs a
 * `ScriptedServer` before the model, `count-tokens` a model with that capability.
 *
 * @example
 * for (const rule of modelContract) test(rule.name, async () => rule.check(await subject()));
 */
export const modelContract: readonly Rule<ModelSubject>[] = [
  ...streaming,
  ...failures,
  ...stopping,
];
