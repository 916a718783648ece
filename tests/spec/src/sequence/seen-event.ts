import type { Envelope, StoredEvents } from '@hexagent/agent-core';

/** An event as the model knows it: what numbers it covers, and what its rules ask about. */
export type SeenEvent = {
  readonly type: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly step?: string;
  readonly steps?: readonly string[];
  readonly after?: number;
  readonly text?: string;
  readonly ends?: readonly number[];
};

/** The names of the model for what the product calls otherwise. */
const MODEL_TYPES: Readonly<Record<string, string>> = {
  'message-delta': 'delta',
  'evidence-recorded': 'attempt-rejected',
};

/** A shown event of the product, as the model sees it. */
export function seenEvent({ seq, stepId, event }: Envelope): SeenEvent {
  return {
    type: MODEL_TYPES[event.type] ?? event.type,
    firstSeq: seq,
    lastSeq: seq,
    ...(stepId === undefined ? {} : { step: stepId }),
    ...(event.type === 'step-finished' ? { step: event.stepId } : {}),
    ...(event.type === 'message-delta' ? { text: event.delta } : {}),
    ...(event.type === 'rewound' ? { steps: event.steps } : {}),
    ...(event.type === 'rewound' && event.after !== undefined ? { after: event.after } : {}),
  };
}

/** A stored row of the product, as the model sees it. */
export function seenRow(row: StoredEvents): SeenEvent {
  const { firstSeq, lastSeq, ends } = row;
  const rootRunId = row.runId;
  const event = seenEvent({ ...row, rootRunId, seq: firstSeq });
  return { ...event, lastSeq, ...(ends === undefined ? {} : { ends }) };
}
