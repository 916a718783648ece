/** Tells quiet streams that it is time to say something. One timer for all of them. */
export interface Heartbeat {
  /** Calls `beat` whenever nothing was noted for `heartbeatMs`, at most a quarter of it later. */
  join(beat: () => void): Pulse;
}

/** One stream's part in it. */
export type Pulse = {
  /** Something was sent. */
  note(): void;
  leave(): void;
};

type Member = { readonly beat: () => void; last: number };

export function heartbeatOf(heartbeatMs: number): Heartbeat {
  const members = new Set<Member>();
  let timer: ReturnType<typeof setInterval> | undefined;
  const tick = (): void => {
    const now = performance.now();
    for (const member of members) {
      if (now - member.last < heartbeatMs) continue;
      member.last = now;
      member.beat();
    }
  };
  return {
    join: (beat) => {
      const member: Member = { beat, last: performance.now() };
      members.add(member);
      timer ??= setInterval(tick, Math.max(1, heartbeatMs / 4)).unref();
      return {
        note: () => {
          member.last = performance.now();
        },
        leave: () => {
          members.delete(member);
          if (members.size > 0) return;
          clearInterval(timer);
          timer = undefined;
        },
      };
    },
  };
}
