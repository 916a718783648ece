import { once } from 'node:events';
import { child } from './child-process.ts';
import type { Measure, Order, Told } from './counting-main.ts';
import type { ServiceOptions } from './counting-service.ts';

/** The service in a process of its own, which can be measured, closed and killed. */
export type CountingProcess = {
  readonly url: string;
  readonly port: number;
  measure(): Promise<Measure>;
  close(): Promise<void>;
  kill(): Promise<void>;
};

export async function countingProcess(
  options: Omit<ServiceOptions, 'host'> & {
    /** Data only: it is sent to the process. */
    readonly host?: Pick<
      NonNullable<ServiceOptions['host']>,
      'limits' | 'onDisconnect' | 'metrics' | 'worker'
    >;
  },
): Promise<CountingProcess> {
  const made = child<Order, Told>(new URL('./counting-main.ts', import.meta.url));
  const opened = await made.ask({ kind: 'open', options });
  if (opened.kind !== 'opened') throw new Error(`The service answered ${opened.kind}.`);
  const { url } = opened;
  return {
    url,
    port: Number(new URL(url).port),
    kill: made.kill,
    measure: async () => {
      const told = await made.ask({ kind: 'measure' });
      if (told.kind !== 'measured') throw new Error(`The service answered ${told.kind}.`);
      return told.measure;
    },
    close: async () => {
      if (made.process.exitCode !== null || made.process.signalCode !== null) return;
      const exited = once(made.process, 'exit');
      await made.ask({ kind: 'close' });
      await exited;
    },
  };
}
