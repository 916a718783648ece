import type { DurableStore } from '@hexagent/agent-core';
import fc from 'fast-check';
import type { ClockedStore } from './clocked-stores.ts';
import { COMMANDS, FIRST } from './commands.ts';
import { finish } from './end.ts';
import { Expected } from './expected.ts';
import { openSite, type Site } from './site.ts';

/** Commands of one history, at most. */
const LONGEST = 24;

/** What one check found: the histories it went through, and the shortest in which product and model disagree. */
export type CommandsChecked = {
  readonly histories: number;
  readonly done: Done;
  readonly fault?: string;
};

/** What the histories were made of, so that nobody thinks of them as harder than they were. */
export type Done = {
  commands: number;
  /** Starts that were accepted. */
  runs: number;
  deaths: number;
  stalls: number;
  deeds: number;
  /** People who were asked whether an effect happened. */
  doubts: number;
  cancelled: number;
};

export const doneText = (done: Done): string =>
  Object.entries(done)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');

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
    /** As a failure prints it, beside its path. */
    readonly replayPath?: string;
    readonly mutate?: (store: DurableStore) => DurableStore;
  },
): Promise<CommandsChecked> {
  const { runs, seed = 1, path, replayPath, mutate } = options;
  const done: Done = {
    commands: 0,
    runs: 0,
    deaths: 0,
    stalls: 0,
    deeds: 0,
    doubts: 0,
    cancelled: 0,
  };
  const agrees = fc.asyncProperty(
    FIRST,
    fc.commands([...COMMANDS], {
      maxCommands: LONGEST,
      size: 'max',
      ...(replayPath === undefined ? {} : { replayPath }),
    }),
    async (first, more) => {
      const site = await openSite(clocked, mutate);
      try {
        const model = new Expected();
        const history = [first, ...more];
        await fc.asyncModelRun(() => ({ model, real: site }), history);
        await finish(model, site);
        count(done, { commands: history.length, model, site });
      } finally {
        await site.close();
      }
    },
  );
  const result = await fc.check(agrees, {
    numRuns: runs,
    seed,
    // Of a store that is broken on purpose it is enough to know that it was noticed.
    endOnFailure: mutate !== undefined,
    ...(path === undefined ? {} : { path }),
  });
  return {
    histories: result.numRuns,
    done,
    ...(result.failed
      ? {
          fault: `seed ${result.seed}, path ${result.counterexamplePath}, after ${result.numShrinks} shorter ones:\n  ${String(result.counterexample).split(',').join(',\n  ')}\n${(result.errorInstance as Error | null)?.stack}`,
        }
      : {}),
  };
}

function count(
  done: Done,
  {
    commands,
    model,
    site,
  }: { readonly commands: number; readonly model: Expected; readonly site: Site },
): void {
  done.commands += commands;
  done.runs += model.runs.length;
  done.deaths += site.left.dies;
  done.stalls += site.left.stalls;
  done.deeds += site.world.deeds.length;
  done.doubts += model.doubts.size;
  done.cancelled += model.runs.filter(({ cancelled }) => cancelled).length;
}
