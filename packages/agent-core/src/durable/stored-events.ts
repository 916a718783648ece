import type { RunId } from '../base/ids.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import type { Envelope } from '../events/envelope.ts';
import type { StoredEvents } from './commit.ts';

/** The events whose texts are joined in one row: consecutive numbers of one message. */
type Delta = Extract<AgentEvent, { readonly delta: string }>;

/** The stored form of numbered events: consecutive deltas of one message share a row (DURABILITY rule 3). */
export function rowsOf(envelopes: readonly Envelope[]): readonly StoredEvents[] {
  const rows: StoredEvents[] = [];
  let index = 0;
  while (index < envelopes.length) {
    const first = envelopes[index] as Envelope;
    const delta = deltaOf(first.event);
    index += 1;
    if (delta === undefined) {
      rows.push(row(first, first.seq, first.event));
      continue;
    }
    let text = delta.delta;
    let lastSeq = first.seq;
    const ends = [text.length];
    for (; index < envelopes.length; index += 1) {
      const next = envelopes[index] as Envelope;
      const more = deltaOf(next.event);
      if (more === undefined || next.seq !== lastSeq + 1) break;
      if (first.stepId !== next.stepId || more.type !== delta.type) break;
      if (subject(more) !== subject(delta)) break;
      text += more.delta;
      lastSeq = next.seq;
      ends.push(text.length);
    }
    rows.push({ ...row(first, lastSeq, { ...delta, delta: text }), ends });
  }
  return rows;
}

/** The events of a row that have a number above the cursor. */
export function envelopesOf(
  stored: StoredEvents,
  options: { readonly rootRunId: RunId; readonly after: number },
): readonly Envelope[] {
  const { runId, agent, stepId, at, firstSeq, event, ends } = stored;
  const place = {
    rootRunId: options.rootRunId,
    runId,
    agent,
    ...(stepId === undefined ? {} : { stepId }),
  };
  const delta = deltaOf(event);
  if (delta === undefined || ends === undefined) {
    return firstSeq > options.after ? [{ ...place, seq: firstSeq, at, event }] : [];
  }
  const envelopes: Envelope[] = [];
  let start = 0;
  ends.forEach((end, offset) => {
    const seq = firstSeq + offset;
    if (seq > options.after) {
      envelopes.push({
        ...place,
        seq,
        at,
        event: { ...delta, delta: delta.delta.slice(start, end) },
      });
    }
    start = end;
  });
  return envelopes;
}

function row(first: Envelope, lastSeq: number, event: AgentEvent): StoredEvents {
  const { runId, agent, stepId, seq, at } = first;
  return {
    runId,
    agent,
    ...(stepId === undefined ? {} : { stepId }),
    firstSeq: seq,
    lastSeq,
    at,
    event,
  };
}

function deltaOf(event: AgentEvent): Delta | undefined {
  return 'delta' in event ? event : undefined;
}

function subject(delta: Delta): string {
  if (delta.type === 'message-delta') return delta.messageId;
  return delta.type === 'reasoning-delta' ? delta.reasoningId : delta.callId;
}
