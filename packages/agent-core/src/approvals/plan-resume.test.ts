import { expect, test } from 'vitest';
import { callIdOf, runIdOf } from '../base/ids.ts';
import { CALL_STAGES, type Call } from '../durable/call.ts';
import { TERMINAL_STATUSES } from '../vocabulary/state.ts';
import { planCallRecovery } from './plan-call-recovery.ts';
import { planResume } from './plan-resume.ts';

const call = (stage: Call['stage'], more: Partial<Call> = {}): Call => ({
  callId: callIdOf(`r1.1.${stage}`),
  runId: runIdOf('r1'),
  step: 1,
  toolName: 'x',
  stage,
  input: { plain: {} },
  inputDigest: '',
  idempotencyKey: '',
  resume: 'ask',
  attempt: 1,
  ...more,
});

test('decides by stage what a new owner does', () => {
  const row = (waiting: boolean): readonly string[] =>
    CALL_STAGES.map((stage) =>
      planCallRecovery(call(stage, { startedFence: 1 }), { fence: 2, waiting }),
    );
  expect(CALL_STAGES).toEqual([
    'proposed',
    'authorised',
    'started',
    'suspended',
    'committed',
    'failed',
    'unknown',
    'denied',
    'interrupted',
  ]);
  expect(row(false)).toEqual([
    'decide',
    'run',
    'ask',
    'wait',
    'settled',
    'settled',
    'ask',
    'settled',
    'settled',
  ]);
  expect(row(true)).toEqual([
    'wait',
    'wait',
    'wait',
    'wait',
    'settled',
    'settled',
    'wait',
    'settled',
    'settled',
  ]);
});

test('repeats, probes or asks about an orphan, as its tool can bear', () => {
  for (const stage of ['started', 'unknown'] as const) {
    const answers = (['retry', 'probe', 'ask'] as const).map((resume) =>
      planCallRecovery(call(stage, { resume, startedFence: 1 }), { fence: 2, waiting: false }),
    );
    expect(answers).toEqual(['repeat', 'probe', 'ask']);
  }
});

test('leaves alone what the owner itself has started', () => {
  expect(planCallRecovery(call('started', { startedFence: 2 }), { fence: 2, waiting: false })).toBe(
    'wait',
  );
  expect(planCallRecovery(call('started', { startedFence: 3 }), { fence: 2, waiting: false })).toBe(
    'wait',
  );
  expect(planCallRecovery(call('started'), { fence: 2, waiting: false })).toBe('ask');
});

const plan = (
  calls: readonly Call[],
  status: Parameters<typeof planResume>[0]['status'] = 'active',
  waiting = false,
) => planResume({ status, calls }, { fence: 2, waiting: () => waiting });

test('never revives a run that has ended', () => {
  for (const status of TERMINAL_STATUSES)
    expect(plan([call('started')], status)).toEqual({ action: 'not-resumable', callIds: [] });
});

test('starts a run without calls, and goes on behind settled ones', () => {
  expect(plan([])).toEqual({ action: 'start', callIds: [] });
  expect(plan([call('committed'), call('denied')])).toEqual({
    action: 'skip-completed',
    callIds: ['r1.1.committed', 'r1.1.denied'],
  });
});

test('retries what may be run again, and asks a human about the rest', () => {
  expect(plan([call('committed'), call('started', { resume: 'retry', startedFence: 1 })])).toEqual({
    action: 'retry',
    callIds: ['r1.1.started'],
  });
  expect(plan([call('proposed'), call('unknown', { resume: 'probe' })])).toEqual({
    action: 'retry',
    callIds: ['r1.1.proposed', 'r1.1.unknown'],
  });
  expect(plan([call('authorised'), call('started', { startedFence: 1 })])).toEqual({
    action: 'require-hitl',
    callIds: ['r1.1.started'],
  });
  expect(plan([call('proposed')], 'interrupted', true)).toEqual({
    action: 'require-hitl',
    callIds: ['r1.1.proposed'],
  });
});
