import { callTool } from '@hexagent/agent-core/testing';
import { expect, test } from 'vitest';
import { runShell } from './shell-tool.ts';

test('risk, approval and recovery follow from the effects', () => {
  expect(runShell.definition).toMatchObject({
    risk: ['read', 'write', 'side-effect', 'network'],
    requiresApproval: true,
    idempotency: 'non-idempotent',
    resume: 'ask',
    evidence: 'summary',
  });
});

test('runs a program', async () => {
  const { value } = await callTool(runShell, { command: process.execPath, args: ['-p', '1 + 1'] });
  expect(value).toEqual({ stdout: '2\n' });
});
