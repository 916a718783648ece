import { child } from './child-process.ts';
import type { Counted, Crowding, Order } from './crowd-main.ts';

/** Client ends of many connections, in processes of their own. */
export type Crowd = {
  count(): Promise<Counted>;
  leave(): Promise<void>;
};

/** One process does not hold more. */
const MOST_IN_A_PROCESS = 2_500;

export async function crowd(crowding: Crowding): Promise<Crowd> {
  const shares: number[] = [];
  for (let left = crowding.count; left > 0; left -= MOST_IN_A_PROCESS)
    shares.push(Math.min(left, MOST_IN_A_PROCESS));
  const processes = shares.map(() =>
    child<Order, Counted>(new URL('./crowd-main.ts', import.meta.url)),
  );
  await Promise.all(
    processes.map((one, index) =>
      one.ask({ kind: 'come', crowding: { ...crowding, count: shares[index] ?? 0 } }),
    ),
  );
  return {
    count: async () => {
      const all = await Promise.all(processes.map((one) => one.ask({ kind: 'count' })));
      const heard: Record<string, number> = {};
      for (const [line, times] of all.flatMap((one) => Object.entries(one.heard)))
        heard[line] = (heard[line] ?? 0) + times;
      return {
        heard,
        connected: all.reduce((sum, one) => sum + one.connected, 0),
        failed: all.reduce((sum, one) => sum + one.failed, 0),
      };
    },
    leave: async () => {
      await Promise.all(processes.map((one) => one.ask({ kind: 'leave' })));
    },
  };
}
