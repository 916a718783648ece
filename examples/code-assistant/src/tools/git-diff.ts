import { defineTool, effects } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { Git } from '../ports/git.ts';

/** Shows changes line by line. Asks nobody. */
export const gitDiff = defineTool({
  name: 'git.diff',
  description: 'Show, as a unified diff, what has changed in the files or (staged) in the index.',
  input: Type.Object({
    staged: Type.Optional(Type.Boolean()),
    path: Type.Optional(Type.String({ description: 'Only this file or folder.' })),
  }),
  needs: { git: Git },
  effects: effects.readOnly(),
  idempotency: 'idempotent',
  approval: 'not-required',
  evidence: 'structured',
  execute: (options, { deps, signal }) => deps.git.diff({ ...options, signal }),
});
