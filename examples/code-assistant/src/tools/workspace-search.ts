import { defineTool, effects } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { Workspace } from '../ports/workspace.ts';

/** Finds lines in the files of the workspace. Asks nobody. */
export const workspaceSearch = defineTool({
  name: 'workspace.search',
  description:
    'Find the lines that contain a text, or match a regular expression, in the files of the workspace.',
  input: Type.Object({
    pattern: Type.String({ minLength: 1, maxLength: 1_000 }),
    syntax: Type.Union([Type.Literal('literal'), Type.Literal('regex')], { default: 'literal' }),
    ignoreCase: Type.Optional(Type.Boolean()),
    folder: Type.Optional(Type.String({ description: 'Search only below this folder.' })),
  }),
  needs: { workspace: Workspace },
  effects: effects.readOnly(),
  idempotency: 'idempotent',
  approval: 'not-required',
  evidence: 'structured',
  execute: (query, { deps, signal }) => deps.workspace.search(query, { signal }),
});
