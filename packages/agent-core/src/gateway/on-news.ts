import { onAbort } from '../base/abort.ts';
import type { EventFeed } from '../runner/event-feed.ts';

/**
 * Calls back once: when there is more to read of an owner or it has stopped, when the signal is aborted, or when the answer is
 * called, whichever comes first. Nothing is left on the signal then.
 */
export function onNews(
  feed: EventFeed,
  signal: AbortSignal | undefined,
  told: () => void,
): () => void {
  let isTold = false;
  const tell = (): void => {
    if (isTold) return;
    isTold = true;
    leave?.();
    told();
  };
  const leave = signal && onAbort(signal, tell);
  feed.onChange(tell);
  return tell;
}
