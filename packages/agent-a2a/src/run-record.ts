import type { Envelope, EventOf, Part, RunOutcome, Wait } from '@hexagent/agent-core';

/** What the events of a run come to, as far as a task shows it. */
export type RunRecord = {
  readonly text: string;
  readonly artifacts: readonly {
    readonly id: string;
    readonly name: string;
    readonly parts: readonly Part[];
  }[];
  readonly waits: readonly Wait[];
  readonly outcome: RunOutcome | undefined;
  /** Epoch milliseconds of the last event. */
  readonly at: number;
  readonly lastSeq: number;
};

const NOTHING: RunRecord = {
  text: '',
  artifacts: [],
  waits: [],
  outcome: undefined,
  at: 0,
  lastSeq: 0,
};

/** Reads a run at rest from its first event to its last, over every pause that it had. */
export async function readRecord(
  watch: (after: number) => AsyncIterable<readonly Envelope[]>,
): Promise<RunRecord> {
  let record = NOTHING;
  for (;;) {
    const { lastSeq } = record;
    for await (const batch of watch(lastSeq))
      for (const event of batch) record = told(record, event);
    if (record.outcome !== undefined || record.lastSeq === lastSeq) return record;
  }
}

function told(record: RunRecord, { event, at, seq }: Envelope): RunRecord {
  const next = { ...record, at, lastSeq: seq };
  if (event.type === 'artifact') return { ...next, artifacts: replaced(record.artifacts, event) };
  if (event.type === 'run-paused') return { ...next, waits: event.waits, text: event.summary.text };
  if (event.type === 'run-finished') {
    return { ...next, waits: [], outcome: event.outcome, text: event.summary.text };
  }
  return next;
}

/** A later artifact of the same id takes the place of the earlier one. */
function replaced(
  artifacts: RunRecord['artifacts'],
  { artifactId, name = '', parts }: EventOf<'artifact'>,
): RunRecord['artifacts'] {
  const fresh = { id: artifactId, name, parts };
  const known = artifacts.some(({ id }) => id === artifactId);
  if (!known) return [...artifacts, fresh];
  return artifacts.map((artifact) => (artifact.id === artifactId ? fresh : artifact));
}
