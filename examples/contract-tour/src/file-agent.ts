import { readFile } from 'node:fs/promises';
import { defineAgent, defineTool, effects } from '@hexagent/agent-core';
import { Type } from 'typebox';

const readFileTool = defineTool({
  name: 'file.read',
  description: 'Read a text file.',
  input: Type.Object({ path: Type.String() }),
  output: Type.String(),
  effects: effects.readOnly(),
  execute: ({ path }, { signal }) => readFile(path, { encoding: 'utf8', signal }),
});

/** No `execute`: the standard loop calls the model, runs the tools, and ends with the answer. */
export const fileAgent = defineAgent({
  name: 'file-agent',
  instructions: 'Use the declared tools to read and summarize files.',
  tools: [readFileTool],
});
