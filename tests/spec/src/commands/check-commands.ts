import type { DurableStore } from '@hexagent/agent-core';
import fc from 'fast-check';
import type { ClockedStore } from './clocked-stores.ts';
import { COMMANDS } from './commands.ts';
import { finish } from './end.ts';
import { Expected } from './expected.ts';
import { openSite } from './site.ts';

/** Commands of one history, at most. */
const LONGEST = 24;

/** What one check found: the histories it went through, and the shortest in which product and model disagree. */
export type CommandsChecked = {
  readonly histories: number;
  readonly commands: number;
  readonly fault?: string;
};

/**
 * Random histories of what people, machines and time do, told to the model and to the product over a store. A
 * disagreement is shortened, and says the seed and the path that bring it back.
 */
export async function checkCommands(
  clocked: ClockedStore,
  options: {
    readonly runs: number;
    readonly seed?: number;
    readonly path?: string;
    readonly mutate?: (store: DurableStore) => DurableStore;
  },
): Promise<CommandsChecked> {
  const { runs, seed = 1, path, mutate } = options;
  let commands = 0;
  const agrees = fc.asyncProperty(
    fc.commands([...COMMANDS], { maxCommands: LONGEST, size: 'max' }),
    async (history) => {
      const site = await openSite(clocked, mutate);
      try {
        const model = new Expected();
        await fc.asyncModelRun(() => ({ model, real: site }), history);
        await finish(model, site);
        commands += [...history].length;
      } finally {
        await site.close();
      }
    },
  );
  const result = await fc.check(agrees, {
    numRuns: runs,
    seed,
    ...(path === undefined ? {} : { path }),
  });
  return {
    histories: result.numRuns,
    commands,
    ...(result.failed
      ? {
          fault: `seed ${result.seed}, path ${result.counterexamplePath}, after ${result.numShrinks} shorter ones:\n  ${String(result.counterexample).split(',').join(',\n  ')}\n${(result.errorInstance as Error | null)?.stack}`,
        }
      : {}),
  };
}
