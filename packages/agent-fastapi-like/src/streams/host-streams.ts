import { type EventFrames, eventFrames } from './event-frames.ts';
import { type Heartbeat, heartbeatOf } from './heartbeat.ts';

/** What all readers of one host share. */
export type HostStreams = {
  /**
   * Events for event streams, as texts: what HTTP puts around a piece is text, and a write of texts only goes to the kernel as
   * one piece instead of four.
   */
  readonly frames: EventFrames<string>;
  /** Events for sockets, as bytes: a text would be encoded for every socket. */
  readonly messages: EventFrames<Buffer>;
  readonly heartbeat: Heartbeat;
  /** Told how many events a reader was given. */
  readonly told: (events: number) => void;
};

export function hostStreams(heartbeatMs: number, told: (events: number) => void): HostStreams {
  return {
    // JSON has no line breaks outside its strings, and escapes those within.
    frames: eventFrames((envelope) => `id: ${envelope.seq}\ndata: ${JSON.stringify(envelope)}\n\n`),
    messages: eventFrames((envelope) =>
      Buffer.from(`{"v":1,"type":"event","envelope":${JSON.stringify(envelope)}}`),
    ),
    heartbeat: heartbeatOf(heartbeatMs),
    told,
  };
}
