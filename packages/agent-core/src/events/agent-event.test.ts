import { expect, test } from 'vitest';
import { EVENT_CLASSES } from './agent-event.ts';

const typesOf = (wanted: string): readonly string[] =>
  Object.entries(EVENT_CLASSES).flatMap(([type, one]) => (one === wanted ? [type] : []));

test('marks are the two that a new owner or a retry makes; live events are what a step shows', () => {
  expect(typesOf('mark')).toEqual(['run-resumed', 'rewound']);
  expect(typesOf('live')).toEqual([
    'step-started',
    'message-delta',
    'reasoning-delta',
    'tool-call-start',
    'tool-call-args-delta',
    'tool-call-end',
    'progress',
  ]);
});
