/** Things of which each is used by one at a time. */
export interface Pool<T> {
  /** Waits, in order of asking, until one is free. */
  use<R>(work: (item: T) => Promise<R>): Promise<R>;
}

export function pool<T>(items: readonly T[]): Pool<T> {
  const free = [...items];
  const waiting: ((item: T) => void)[] = [];
  const take = (): Promise<T> => {
    const item = free.pop();
    return item === undefined
      ? new Promise((resolve) => waiting.push(resolve))
      : Promise.resolve(item);
  };
  const give = (item: T): void => {
    const next = waiting.shift();
    if (next === undefined) free.push(item);
    else next(item);
  };
  return {
    async use(work) {
      const item = await take();
      try {
        return await work(item);
      } finally {
        give(item);
      }
    },
  };
}
