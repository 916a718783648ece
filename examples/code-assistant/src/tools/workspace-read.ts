import { defineTool, effects } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { Workspace } from '../ports/workspace.ts';

/** Reads a file, or some lines of it. Asks nobody. */
export const workspaceRead = defineTool({
  name: 'workspace.read',
  description:
    'Read a text file of the workspace, or the lines from fromLine to toLine. The answer has a revision, which workspace.write needs to replace the file.',
  input: Type.Object({
    path: Type.String({ description: 'Relative to the workspace, like "src/index.ts".' }),
    fromLine: Type.Optional(Type.Integer({ minimum: 1 })),
    toLine: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
  needs: { workspace: Workspace },
  effects: effects.readOnly(),
  idempotency: 'idempotent',
  approval: 'not-required',
  evidence: 'structured',
  execute: ({ path, ...range }, { deps, signal }) =>
    deps.workspace.read(path, { ...range, signal }),
});
