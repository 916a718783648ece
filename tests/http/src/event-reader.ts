import type { Envelope } from '@hexagent/agent-core';

/** Reads the events of a stream, one by one; ends when the stream does, also when its connection breaks. */
export async function* eventsOf(response: Response): AsyncGenerator<Envelope> {
  if (response.body === null) return;
  let buffer = '';
  try {
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      buffer += text;
      const frames = buffer.split('\n\n');
      buffer = frames.pop() ?? '';
      for (const frame of frames) {
        const data = /^data: (.*)$/m.exec(frame)?.[1];
        const id = /^id: (.*)$/m.exec(frame)?.[1];
        if (data === undefined) continue;
        const envelope = JSON.parse(data) as Envelope;
        if (String(envelope.seq) !== id) throw new Error(`The frame ${id} holds ${envelope.seq}.`);
        yield envelope;
      }
    }
  } catch (error) {
    // A server that dies breaks the body off: what came until then counts.
    if (!(error instanceof TypeError)) throw error;
  }
}

export function watch(url: string, runId: string, lastId?: number): Promise<Response> {
  return fetch(`${url}/runs/${encodeURIComponent(runId)}/events`, {
    headers: lastId === undefined ? {} : { 'last-event-id': String(lastId) },
  });
}

/** What counts of the events that were seen: those that a later `rewound` names do not (DURABILITY, sequence). */
export function standing(events: readonly Envelope[]): readonly Envelope[] {
  let kept: readonly Envelope[] = [];
  for (const envelope of events) {
    const { event, seq } = envelope;
    if (event.type === 'rewound') {
      const { steps, after } = event;
      kept = kept.filter(
        (one) =>
          !(one.stepId !== undefined && steps.includes(one.stepId) && isLive(one)) &&
          !(after !== undefined && one.seq > after && one.seq < seq),
      );
    }
    kept = [...kept, envelope];
  }
  return kept;
}

const LIVE = ['step-started', 'message-delta', 'reasoning-delta', 'progress'];

function isLive({ event: { type } }: Envelope): boolean {
  return LIVE.includes(type) || type.startsWith('tool-call-args') || type === 'tool-call-start';
}
