import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootstrap } from '@hexagent/agent-core';
import { scriptedModel } from '@hexagent/agent-core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { fileAgent } from './file-agent.ts';

test('reads a file with its tool and answers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hexagent-tour-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'README.md');
  writeFileSync(path, '# Hexagent\n');
  const model = scriptedModel([
    { calls: [{ name: 'file.read', input: { path } }] },
    {
      text: ['It is about ', 'Hexagent.'],
      expect: ({ messages }) => expect(JSON.stringify(messages.at(-1))).toContain('# Hexagent'),
    },
  ]);
  const app = await bootstrap({ plugins: [model], agents: [fileAgent] });
  const result = await app.run(fileAgent, 'Read README.md and summarize.');
  expect(result).toMatchObject({
    kind: 'completed',
    text: 'It is about Hexagent.',
    toolCalls: ['file.read'],
  });
  await app.close();
});
