import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { defineTool, effects } from '@hexagent/agent-core';
import { Type } from 'typebox';

const run = promisify(execFile);

/** The effects are the truth; risk, approval and what happens after a crash follow from them. */
export const runShell = defineTool({
  name: 'shell.run',
  description: 'Run a program.',
  input: Type.Object({ command: Type.String(), args: Type.Array(Type.String()) }),
  effects: effects.externalSideEffect(),
  idempotency: 'non-idempotent',
  evidence: 'summary',
  approval: 'derived',
  execute: async ({ command, args }, { signal }) => {
    const { stdout } = await run(command, args, { signal });
    return { stdout };
  },
});
