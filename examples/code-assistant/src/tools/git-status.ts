import { defineTool, effects } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { Git } from '../ports/git.ts';

/** Lists what has changed since the last commit. Asks nobody. */
export const gitStatus = defineTool({
  name: 'git.status',
  description: 'List the files that differ from the last commit, and the current branch.',
  input: Type.Object({}),
  needs: { git: Git },
  effects: effects.readOnly(),
  idempotency: 'idempotent',
  approval: 'not-required',
  evidence: 'structured',
  execute: (_input, { deps, signal }) => deps.git.status({ signal }),
});
