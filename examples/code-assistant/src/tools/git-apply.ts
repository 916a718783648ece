import { defineTool, effects } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { Git } from '../ports/git.ts';

/**
 * Applies a patch, after approval. A patch fits only files that do not have it yet, which makes it
 * conditionally idempotent; whether it is there is seen by trying to take it out.
 */
export const gitApply = defineTool({
  name: 'git.apply',
  description:
    'Apply a unified diff to the files of the workspace; all of it or nothing. A human is asked first.',
  input: Type.Object({ patch: Type.String({ minLength: 1 }) }),
  needs: { git: Git },
  effects: effects.destructiveAction(),
  idempotency: 'conditionally-idempotent',
  evidence: 'summary',
  execute: ({ patch }, { deps, signal }) => deps.git.apply(patch, { signal }),
  reconcile: async ({ patch }, { deps, signal }) => {
    switch (await deps.git.check(patch, { signal })) {
      case 'applied':
        return { kind: 'committed', result: { changed: true } };
      case 'applies':
        return { kind: 'not-started' };
      default:
        return { kind: 'unknown' };
    }
  },
});
