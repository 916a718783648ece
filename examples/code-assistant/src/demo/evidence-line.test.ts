import type { EvidenceRow, JsonObject } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { evidenceLine } from './evidence-line.ts';

function row(kind: EvidenceRow['kind'], payload?: JsonObject): EvidenceRow {
  const hash = 'abcdef0123456789';
  return { seq: 7, kind, hash, ...(payload === undefined ? {} : { payload }) } as EvidenceRow;
}

test.each([
  [
    row('action-boundary', {
      stage: 'after',
      actionKind: 'tool-call',
      metadata: { toolName: 'workspace.read', outcome: 'ok' },
    }),
    'action-boundary  after tool-call workspace.read ok',
  ],
  [
    row('action-boundary', { stage: 'before', actionKind: 'model-call' }),
    'action-boundary  before model-call',
  ],
  [
    row('model', { finish: 'tool-calls', calls: [{ toolName: 'git.diff' }] }),
    'model            tool-calls git.diff',
  ],
  [row('model', { finish: 'stop' }), 'model            stop'],
  [row('tool', { outcome: 'ok', attempt: 1 }), 'tool             ok, attempt 1'],
  [row('approval', { decision: 'approve', by: 'local' }), 'approval         approve by local'],
  [row('signal', { kind: 'cancel' }), 'signal           cancel'],
  [row('cancellation', {}), 'cancellation'],
  [row('checkpoint'), 'checkpoint'],
])('says on one line what a row holds', (evidence, expected) => {
  expect(evidenceLine(evidence)).toBe(`  7  abcdef012345  ${expected}`);
});
