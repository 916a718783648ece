import type { RunId } from '../base/ids.ts';
import type { JsonValue } from '../base/json.ts';
import type { Envelope } from '../events/envelope.ts';
import type { RunResult } from '../vocabulary/outcome.ts';

/** The result that a `run-finished` or `run-paused` event stands for; undefined for any other. */
export function resultOf({
  runId,
  event,
}: {
  readonly runId: RunId;
  readonly event: Envelope['event'];
}): RunResult<unknown> | undefined {
  if (event.type === 'run-paused') {
    return { runId, usage: event.usage, ...event.summary, kind: 'paused', waits: event.waits };
  }
  if (event.type !== 'run-finished') return undefined;
  const { outcome, usage, summary } = event;
  switch (outcome.kind) {
    case 'completed': {
      const output: JsonValue = outcome.output ?? outcome.text;
      return { ...summary, runId, usage, text: outcome.text, kind: 'completed', output };
    }
    case 'failed':
      return { ...summary, ...outcome, runId, usage };
    case 'cancelled':
      return { ...summary, ...outcome, runId, usage };
  }
}
