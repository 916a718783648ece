import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A process of TypeScript that is spoken to by messages. */
export type Child<Order, Told> = {
  readonly process: ChildProcess;
  /** Says something and waits for the next thing that is said back. */
  ask(order: Order): Promise<Told>;
  next(): Promise<Told>;
  /** Ends it as a power cut does. */
  kill(): Promise<void>;
};

export function child<Order extends object, Told>(file: URL): Child<Order, Told> {
  const made = fork(file, {
    execArgv: [
      '--expose-gc',
      '--conditions=development',
      '--import',
      // Of the workspace, whatever the folder that tests are run from.
      import.meta.resolve('tsx'),
    ],
  });
  const next = async (): Promise<Told> => {
    const died = new AbortController();
    const gone = (code: number | null): void =>
      died.abort(new Error(`${file.pathname.split('/').at(-1)} ended with ${code}.`));
    made.once('exit', gone);
    try {
      const [message] = await once(made, 'message', { signal: died.signal });
      return message;
    } catch (error) {
      throw died.signal.aborted ? died.signal.reason : error;
    } finally {
      made.off('exit', gone);
    }
  };
  return {
    process: made,
    next,
    ask: (order) => {
      const answer = next();
      made.send(order);
      return answer;
    },
    kill: async () => {
      if (made.exitCode !== null || made.signalCode !== null) return;
      const exited = once(made, 'exit');
      made.kill('SIGKILL');
      await exited;
    },
  };
}
