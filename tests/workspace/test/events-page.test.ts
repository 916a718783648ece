import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type AgentEvent,
  EVENT_CLASSES,
} from '../../../packages/agent-core/src/events/agent-event.ts';
import {
  type AgentYield,
  YIELD_KINDS,
} from '../../../packages/agent-core/src/events/agent-yield.ts';
import { fromYield, toYields } from '../../../packages/agent-core/src/events/project-yields.ts';
import { WORKSPACE } from './tree.ts';

const page = readFileSync(join(WORKSPACE, 'docs/events.md'), 'utf8');

/** The cells of every row of the table below a heading; back-ticks taken off. */
function rowsBelow(heading: string): readonly (readonly string[])[] {
  const section = page.split(`## ${heading}`)[1]?.split('\n## ')[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}

const EVENT_ROWS = rowsBelow('Every event, and the yield it becomes');
const YIELD_ROWS = rowsBelow('Every yield, and the event it becomes');

/** Fields that any event or yield may be asked for; only kinds matter here. */
const WAIT = { id: 'w', status: 'pending', kind: 'approval' };
const ANY = {
  waits: [],
  steps: [],
  patch: [],
  content: [],
  parts: [],
  wait: WAIT,
  delta: 'text',
  message: 'text',
  toolName: 'tool',
  summary: { text: '', toolCalls: [], evidenceCount: 0 },
};

/** The event of a row: `run-finished (failed)` is one with that outcome. */
function eventOf(cell: string): AgentEvent {
  const [type, ended] = cell.replace(')', '').split(' (');
  const extra =
    ended === undefined
      ? {}
      : { outcome: { kind: ended, text: '', error: { code: 'X', message: 'm', mend: 'm' } } };
  const kind = type === 'signal-consumed' ? 'user-message' : 'model';
  const event: unknown = { ...ANY, ...extra, type, kind, stepId: 's', callId: 'c' };
  return event as AgentEvent;
}

describe('docs/events.md', () => {
  test('has a row for every event of the union, with its class', () => {
    const listed = new Map(
      EVENT_ROWS.map(([event = '', kind = '']) => [event.split(' ')[0], kind]),
    );
    expect(Object.fromEntries(listed)).toEqual(EVENT_CLASSES);
  });

  test.each(EVENT_ROWS)('%s (%s) becomes %s', (cell = '', _class, kind = '', step = '') => {
    const envelope: unknown = { event: eventOf(cell), runId: 'r', rootRunId: 'r', seq: 1, at: 0 };
    const yields = toYields(envelope as Parameters<typeof toYields>[0]);
    expect(yields.map((item) => item.kind)).toEqual(kind === '–' ? [] : [kind]);
    for (const item of yields) {
      if (item.kind === 'progress' && /^[a-z]+$/.test(step)) expect(item.step).toBe(step);
    }
  });

  test('has a row for every yield kind', () => {
    expect(YIELD_ROWS.map(([kind]) => kind)).toEqual(YIELD_KINDS);
  });

  test.each(YIELD_ROWS)('a yielded %s becomes %s', (kind = '', target = '') => {
    const item: unknown = {
      kind,
      text: 'text',
      message: 'text',
      name: 'tool',
      callId: 'c',
      content: [],
      wait: WAIT,
      output: 1,
      code: 'X',
      mend: 'm',
    };
    const made = fromYield(item as AgentYield, 'm1');
    if ('event' in made) expect(target).toBe(made.event.type);
    else expect(target).toMatch(/^ends the run: run-finished/);
    if ('end' in made) expect(made.end).toBe(kind);
  });
});
