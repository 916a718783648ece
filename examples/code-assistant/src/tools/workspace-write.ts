import { defineTool, effects } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { Workspace } from '../ports/workspace.ts';

/**
 * Creates or replaces a file, after approval.
 *
 * The revision makes it conditionally idempotent: a write that comes late or twice finds either its
 * own content, and changes nothing, or another file than it was meant for, and is refused.
 */
export const workspaceWrite = defineTool({
  name: 'workspace.write',
  description:
    'Create a text file, or replace a whole one. To replace, give in "replaces" the revision that workspace.read answered. A human is asked first.',
  input: Type.Object({
    path: Type.String({ description: 'Relative to the workspace, like "src/index.ts".' }),
    content: Type.String({ description: 'The whole new content of the file.' }),
    replaces: Type.Optional(
      Type.String({ description: 'The revision that was read; leave it out for a new file.' }),
    ),
  }),
  needs: { workspace: Workspace },
  effects: effects.writeState(),
  idempotency: 'conditionally-idempotent',
  evidence: 'structured',
  execute: (file, { deps, signal }) => deps.workspace.write(file, { signal }),
  reconcile: async ({ path, content, replaces }, { deps: { workspace }, signal }) => {
    const wanted = workspace.revisionOf(content);
    const now = await workspace.revision(path, { signal });
    if (now === wanted) {
      const bytes = new TextEncoder().encode(content).length;
      return { kind: 'committed', result: { path, revision: wanted, bytes, changed: true } };
    }
    return now === replaces ? { kind: 'not-started' } : { kind: 'unknown' };
  },
});
