import { CHECKS, type Finding } from './checks.ts';

/** What the parent asks for, and what it is told. */
export type Order = { readonly name: string; readonly seed: number };
export type Outcome = Finding & {
  readonly name: string;
  readonly seconds: number;
  /** Of the processor: what does not depend on what else the machine does. */
  readonly processorSeconds: number;
};

process.on('message', async ({ name, seed }: Order) => {
  const started = performance.now();
  const before = process.cpuUsage();
  const finding = await found(name, seed);
  const { user, system } = process.cpuUsage(before);
  const outcome: Outcome = {
    ...finding,
    name,
    seconds: (performance.now() - started) / 1e3,
    processorSeconds: (user + system) / 1e6,
  };
  process.send?.(outcome);
});

async function found(name: string, seed: number): Promise<Finding> {
  try {
    const check = CHECKS.find((one) => one.name === name);
    if (check === undefined) throw new Error(`there is no check "${name}"`);
    return await check.run(seed);
  } catch (error) {
    return { looked: 'it broke', fault: error instanceof Error ? error.stack : String(error) };
  }
}
