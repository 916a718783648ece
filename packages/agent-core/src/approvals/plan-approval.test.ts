import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { CONTEXT_EXPOSURE } from '../guard/exposure.ts';
import { sensitive } from '../guard/sensitive.ts';
import { defineTool } from '../tools/define-tool.ts';
import { effects } from '../tools/effects.ts';
import { APPROVAL_REQUIREMENTS, type ToolDefinition } from '../tools/tool.ts';
import { planApproval } from './plan-approval.ts';

const definitionOf = (more: object): ToolDefinition =>
  defineTool({
    name: 'mail.send',
    description: 'Sends a mail.',
    input: Type.Object({
      to: sensitive(Type.String(), { category: 'email' }),
      text: Type.String(),
    }),
    effects: effects.externalSideEffect(),
    execute: () => 1,
    ...more,
  }).definition;

const input = { to: 'ann@example.com', text: 'Hello' };

test('asks by what the author says, and else by the risk', () => {
  const table = APPROVAL_REQUIREMENTS.map((approval) =>
    [effects.readOnly(), effects.externalSideEffect()].map(
      (given) => planApproval(definitionOf({ approval, effects: given }), input).action,
    ),
  );
  expect(table).toEqual([
    ['proceed', 'wait'], // derived
    ['wait', 'wait'], // required
    ['proceed', 'proceed'], // not-required
  ]);
});

test('lets a call of low risk proceed with nothing else', () => {
  expect(planApproval(definitionOf({ effects: effects.readOnly() }), input)).toEqual({
    action: 'proceed',
  });
});

test('shows the approver the tool, its exact arguments and the risk, and no marked value', () => {
  expect(planApproval(definitionOf({}), input)).toEqual({
    action: 'wait',
    allowed: ['approve', 'reject', 'modify', 'defer', 'cancel'],
    prompt: {
      message: 'May "mail.send" run with these arguments?',
      tool: 'mail.send',
      description: 'Sends a mail.',
      arguments: { to: '[REDACTED]', text: 'Hello' },
      risk: ['read', 'write', 'side-effect', 'network'],
      approval: 'derived',
    },
  });
});

test('takes another question, and a policy that shows more', () => {
  const plan = planApproval(definitionOf({}), input, {
    message: 'Send it?',
    policy: { ...CONTEXT_EXPOSURE, includePiiValues: true },
  });
  expect(plan).toMatchObject({ prompt: { message: 'Send it?', arguments: input } });
});
