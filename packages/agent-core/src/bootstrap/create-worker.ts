import { inputInvalid } from '../base/error-catalog.ts';
import { RunWorker } from '../gateway/worker.ts';
import {
  checkedWorkerOptions,
  type Worker,
  type WorkerOptions,
} from '../gateway/worker-options.ts';
import type { App } from './app.ts';
import { insideOf } from './app-inside.ts';

/**
 * A worker of an application: claims runs that nobody drives and drives them, several at once, until it is
 * drained. `app.close()` drains it, too. A plugin, which is started with a gateway, gives `{ runs: gateway }`.
 *
 * @example
 * const worker = createWorker(app, { concurrency: 10 });
 * worker.start();
 * process.once('SIGTERM', () => app.close());
 *
 * @throws AgentError `INPUT_INVALID` for options out of their range, an application without a durable
 * agent, and one that `bootstrap` did not make; `APP_CLOSED` after `app.close()`.
 */
export function createWorker(app: Pick<App, 'runs'>, options: WorkerOptions = {}): Worker {
  const inside = insideOf(app);
  if (inside === undefined) {
    throw inputInvalid('createWorker', [
      { at: 'app', seen: 'was not made by bootstrap.', mend: 'Pass what bootstrap() resolves to.' },
    ]);
  }
  const { parts, workers } = inside;
  parts.closing.throwIfAborted();
  const worker = new RunWorker(parts, checkedWorkerOptions(options, parts.agents.values()));
  workers.add(worker);
  return worker;
}
