import { type EventFrames, eventFrames } from './event-frames.ts';
import { type Heartbeat, heartbeatOf } from './heartbeat.ts';

/** What all event streams of one host share. */
export type HostStreams = {
  readonly frames: EventFrames;
  readonly heartbeat: Heartbeat;
  /** Told how many events a reader was given. */
  readonly told: Set<(events: number) => void>;
};

export function hostStreams(heartbeatMs: number): HostStreams {
  return { frames: eventFrames(), heartbeat: heartbeatOf(heartbeatMs), told: new Set() };
}
