import type { Envelope } from '@hexagent/agent-core';

/** Events as one wire has them: texts, or bytes. */
export interface EventFrames<Frame> {
  of(envelope: Envelope): Frame;
}

/** What is kept of frames for other readers of the same run: so many, and so many characters or bytes. */
const KEPT_FRAMES = 512;
const KEPT_LENGTH = 2 * 1_024 * 1_024;

/**
 * Frames for all readers of a host. An owner shows the same envelope to everybody who keeps up with its run, so that the
 * last frames are kept: a thousand readers cost one encoding.
 */
export function eventFrames<Frame extends { readonly length: number }>(
  encode: (envelope: Envelope) => Frame,
): EventFrames<Frame> {
  const kept = new Map<Envelope, Frame>();
  let total = 0;
  const keep = (envelope: Envelope, frame: Frame): void => {
    if (frame.length > KEPT_LENGTH) return;
    kept.set(envelope, frame);
    total += frame.length;
    for (const [oldest, { length }] of kept) {
      if (kept.size <= KEPT_FRAMES && total <= KEPT_LENGTH) return;
      kept.delete(oldest);
      total -= length;
    }
  };
  return {
    of: (envelope) => {
      const known = kept.get(envelope);
      if (known !== undefined) return known;
      const frame = encode(envelope);
      keep(envelope, frame);
      return frame;
    },
  };
}
