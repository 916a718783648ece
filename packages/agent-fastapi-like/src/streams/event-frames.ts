import type { Envelope } from '@hexagent/agent-core';

/** Events as bytes of one wire. */
export interface EventFrames {
  of(envelope: Envelope): Buffer;
}

/** What is kept of frames for other readers of the same run: so many, and so many bytes. */
const KEPT_FRAMES = 512;
const KEPT_BYTES = 2 * 1_024 * 1_024;

/**
 * Frames for all readers of a host. An owner shows the same envelope to everybody who keeps up with its run, so that the
 * last frames are kept: a thousand readers cost one encoding.
 */
export function eventFrames(encode: (envelope: Envelope) => string): EventFrames {
  const kept = new Map<Envelope, Buffer>();
  let bytes = 0;
  const keep = (envelope: Envelope, frame: Buffer): void => {
    if (frame.length > KEPT_BYTES) return;
    kept.set(envelope, frame);
    bytes += frame.length;
    for (const [oldest, { length }] of kept) {
      if (kept.size <= KEPT_FRAMES && bytes <= KEPT_BYTES) return;
      kept.delete(oldest);
      bytes -= length;
    }
  };
  return {
    of: (envelope) => {
      const known = kept.get(envelope);
      if (known !== undefined) return known;
      const frame = Buffer.from(encode(envelope));
      keep(envelope, frame);
      return frame;
    },
  };
}
