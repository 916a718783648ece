/** What runs when a signal aborts; many calls share one signal, and one listener on it. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls back when the signal aborts; answers how to stop that. */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  const calls = waiting.get(signal) ?? listenTo(signal);
  calls.add(call);
  return () => {
    calls.delete(call);
  };
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const calls = new Set<() => void>();
  waiting.set(signal, calls);
  signal.addEventListener('abort', () => {
    for (const call of [...calls]) call();
  });
  return calls;
}
