import { defineTool, effects } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { Shell } from '../ports/shell.ts';

/** Runs a program, after approval. What it does is unknown, so it is never repeated by itself. */
export const shellCommand = defineTool({
  name: 'shell.command',
  description:
    'Run a program in the workspace, without a shell: no pipes, no globs, one list item an argument. A human is asked first.',
  input: Type.Object({
    command: Type.String({ minLength: 1, description: 'The program, like "npm".' }),
    args: Type.Array(Type.String(), { maxItems: 200 }),
    folder: Type.Optional(Type.String({ description: 'Where to run it; default the workspace.' })),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 600_000 })),
  }),
  needs: { shell: Shell },
  effects: effects.externalSideEffect(),
  idempotency: 'non-idempotent',
  evidence: 'summary',
  execute: (command, { deps, signal }) => deps.shell.run(command, { signal }),
});
