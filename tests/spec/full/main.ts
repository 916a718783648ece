import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CHECKS } from './checks.ts';
import type { Order, Outcome } from './worker.ts';

const HELP = `npm run spec: explores the executable models completely, and holds the product against them; minutes.
  npm run spec -- sequence real      only the checks whose names begin so
  npm run spec -- --seed 7           where random checks begin; default 1
  npm run spec -- --processes 4      how many checks at once; default 2, and no more than there are processors`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    processes: { type: 'string', default: `${Math.min(2, availableParallelism())}` },
  },
});

if (values.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const started = performance.now();
  const waiting = CHECKS.map(({ name }) => name).filter(
    (name) => positionals.length === 0 || positionals.some((start) => name.startsWith(start)),
  );
  const { length } = waiting;
  const outcomes: Outcome[] = [];
  await Promise.all(
    Array.from({ length: Number(values.processes) }, async () => {
      const worker = fork(fileURLToPath(new URL('worker.ts', import.meta.url)));
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const outcome = await told(worker, { name, seed: Number(values.seed) });
        print(outcome);
        outcomes.push(outcome);
      }
      worker.kill();
    }),
  );
  const failed = outcomes.filter(({ fault }) => fault !== undefined).length;
  const minutes = (seconds: number): string => (seconds / 60).toFixed(1);
  const spent = outcomes.reduce((sum, { processorSeconds }) => sum + processorSeconds, 0);
  const time = `${minutes((performance.now() - started) / 1_000)} minutes (${minutes(spent)} of a processor)`;
  console.log(`${length - failed} passed, ${failed} failed, in ${time}, seed ${values.seed}`);
  process.exitCode = failed > 0 || length === 0 ? 1 : 0;
}

/** One check at a time; a process that ends over it has failed it. */
function told(worker: ChildProcess, order: Order): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void =>
      reject(new Error(`the process of "${order.name}" ended with ${code}`));
    worker.once('exit', ended);
    worker.once('message', (outcome) => {
      worker.off('exit', ended);
      resolve(outcome as Outcome);
    });
    worker.send(order);
  });
}

function print({ name, seconds, looked, fault }: Outcome): void {
  const mark = fault === undefined ? '✓' : '✗';
  console.log(`${mark} ${name.padEnd(66)} ${seconds.toFixed(1).padStart(6)} s  ${looked}`);
  if (fault !== undefined) console.log(`    ${fault}`);
}
