import { type LedgerCall, type RunSnapshot, runIdOf } from '@hexagent/agent-core';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { shownInstant } from '../render/instant.ts';
import { type Column, printTable } from '../render/table.ts';
import { printWaitSummary } from '../render/wait-view.ts';
import type { Task } from './perform.ts';

const KEY_SHOWN = 12;

/** One run: its state, its calls on the ledger, and what it waits for. */
export async function showRun({ open, output, args }: Task<object>): Promise<ExitCode> {
  const { app, caller } = await open({ start: false });
  const snapshot = await app.runs.snapshot(runIdOf(args[0] ?? ''), caller);
  const { run, calls, waits, deliveries, lastSeq, prunedThrough } = snapshot;
  output.record('run', { ...run, waits, calls, deliveries, lastSeq, prunedThrough });
  printTable(output, fieldsOf(snapshot), {
    columns: [
      { title: 'FIELD', value: ([name]) => name },
      { title: 'VALUE', value: ([, value]) => value, flexible: true },
    ],
    empty: '',
  });
  if (calls.length > 0) {
    output.line();
    printTable(output, calls, { columns: CALLS, empty: '' });
  }
  for (const wait of waits) printWaitSummary(output, wait);
  return EXIT.completed;
}

const CALLS: readonly Column<LedgerCall>[] = [
  { title: 'CALL', value: ({ callId }) => callId.slice(callId.indexOf('.') + 1) },
  { title: 'TOOL', value: ({ toolName }) => toolName, flexible: true },
  { title: 'STAGE', value: ({ stage }) => stage },
  { title: 'ATTEMPT', value: ({ attempt }) => String(attempt) },
  { title: 'KEY', value: ({ idempotencyKey }) => idempotencyKey.slice(0, KEY_SHOWN) },
  {
    title: 'WAITS',
    value: ({ waits }) => waits.map(({ kind, status }) => `${kind} ${status}`).join(', '),
    flexible: true,
  },
  {
    title: 'ARGUMENTS',
    value: ({ input }) => (input === undefined ? 'withheld' : JSON.stringify(input)),
    flexible: true,
  },
];

function fieldsOf({
  run,
  deliveries,
  lastSeq,
  prunedThrough,
}: RunSnapshot): readonly (readonly [string, string])[] {
  return [
    ['run', run.runId],
    ['root', run.rootRunId],
    ...(run.parentRunId === undefined ? [] : [['parent', run.parentRunId] as const]),
    ['agent', run.agent],
    ['status', run.status],
    ['transition', run.transition],
    ['reason', run.reason ?? ''],
    ['conversation', run.conversationId],
    ['created', shownInstant(run.createdAt)],
    ['changed', shownInstant(run.statusAt)],
    ['counters', JSON.stringify(run.counters)],
    ['deliveries', String(deliveries)],
    ['last event', String(lastSeq)],
    ...(prunedThrough === 0 ? [] : [['events gone to', String(prunedThrough)] as const]),
    ['metadata', JSON.stringify(run.metadata)],
    ['shared', JSON.stringify(run.shared)],
  ];
}
