import type { Envelope } from '@hexagent/agent-core';

/** What a reader has on its screen: text by step, taken back where a later event says so. */
export function shownText(envelopes: readonly Envelope[]): string {
  let shown: {
    readonly seq: number;
    readonly stepId: string | undefined;
    readonly text: string;
  }[] = [];
  for (const { seq, stepId, event } of envelopes) {
    if (event.type === 'message-delta') shown.push({ seq, stepId, text: event.delta });
    if (event.type !== 'rewound') continue;
    const { steps, after = Number.POSITIVE_INFINITY } = event;
    shown = shown.filter(
      (one) => one.seq <= after && !(one.stepId !== undefined && steps.includes(one.stepId)),
    );
  }
  return shown.map(({ text }) => text).join('');
}
