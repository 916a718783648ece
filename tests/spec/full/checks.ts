import fc from 'fast-check';
import { hasCycle, search, walk } from '../models/ownership/explore.mjs';
import { RULES } from '../models/ownership/model.mjs';
import { LARGE, REFUTATIONS, SCENARIOS } from '../models/ownership/scenarios.mjs';
import { exhaust, explore } from '../models/sequence/explore.mjs';
import { mutants } from '../models/sequence/mutants.mjs';
import { checkCommands, doneText } from '../src/commands/check-commands.ts';
import {
  clockedMemoryStore,
  clockedPostgresStore,
  clockedSqliteStore,
} from '../src/commands/clocked-stores.ts';
import { STORE_MUTANTS } from '../src/commands/store-mutants.ts';
import { journalCase, runJournalled } from '../src/journal/run-journalled.ts';
import { disagreement } from '../src/ownership/disagreement.ts';
import { STORE_RULES, without } from '../src/ownership/store-rules.ts';
import { timedMemoryStore, timedSqliteStore } from '../src/ownership/stores.ts';
import { mutated, REAL_MUTANTS, type RealMutant } from '../src/sequence/real-mutants.ts';
import { REAL_PARTS } from '../src/sequence/real-parts.ts';
import { runWatched } from '../src/sequence/run-watched.ts';

/** What one check found: how much was looked at, and why it fails. */
export type Finding = { readonly looked: string; readonly fault?: string | undefined };
/** `seed`: where random checks begin. */
type Check = {
  readonly name: string;
  readonly run: (seed: number) => Finding | Promise<Finding>;
};

const refuted = (looked: string, why: string | undefined): Finding => ({
  looked: why === undefined ? looked : `refuted: ${why.slice(0, 70)}`,
  fault: why === undefined ? 'it was not noticed' : undefined,
});

const sequence: readonly Check[] = [
  {
    name: 'sequence: random schedules',
    run: (seed) => {
      const { seen, violation } = explore(20_000, seed);
      return { looked: `${seen.schedules} schedules, ${seen.steps} steps`, fault: violation };
    },
  },
  {
    name: 'sequence: every short schedule',
    run: () => {
      const { worlds, violation } = exhaust(5);
      return { looked: `${worlds} worlds`, fault: violation };
    },
  },
  ...Object.entries(mutants).map(([name, mutant]) => ({
    name: `sequence, mutant: ${name}`,
    run: () => refuted('60000 schedules', explore(60_000, 1, mutant).violation),
  })),
];

const ownership: readonly Check[] = [
  ...SCENARIOS.map((scenario) => ({
    name: `ownership: ${scenario.name}`,
    run: () => {
      const { states, why, trace, stopped } = search(scenario, RULES);
      const fault =
        why === undefined ? stopped && 'stopped at the limit' : `${why}: ${trace.join(' · ')}`;
      return { looked: `${states} states`, fault: fault || undefined };
    },
  })),
  ...REFUTATIONS.map(({ rule, but, scenario }) => ({
    name: `ownership without ${rule}${but === undefined ? '' : `, with ${Object.keys(but).join()}`}`,
    run: () => {
      const { states, why } = search(scenario, { ...RULES, [rule]: false, ...but });
      return refuted(`${states} states`, why);
    },
  })),
  ...LARGE.map((scenario) => ({
    name: `ownership, random walks: ${scenario.name}`,
    run: (seed: number) => {
      const { visited, why } = walk(scenario, RULES, 1_000, seed);
      return { looked: `${visited} steps`, fault: why };
    },
  })),
  ...SCENARIOS.filter(({ name }) => ['created', 'unsafe', 'gated'].includes(name)).map(
    (scenario) => ({
      name: `ownership, cycles: ${scenario.name}`,
      run: () => {
        const { states, cycle } = hasCycle(scenario);
        return { looked: `${states} states`, fault: cycle ? 'it has a cycle' : undefined };
      },
    }),
  ),
];

const real: readonly Check[] = [
  {
    name: 'real event feed: random schedules',
    run: (first) => {
      const { seen, seed, violation } = explore(30_000, first, REAL_PARTS);
      const fault = violation === undefined ? undefined : `seed ${seed}: ${violation}`;
      return { looked: `${seen.schedules} schedules, ${seen.steps} steps`, fault };
    },
  },
  {
    name: 'real event feed: every short schedule',
    run: () => {
      const { worlds, violation } = exhaust(4, REAL_PARTS);
      return { looked: `${worlds} worlds`, fault: violation };
    },
  },
  ...(Object.keys(REAL_MUTANTS) as RealMutant[]).map((name) => ({
    name: `real event feed, with a fault: ${name}`,
    run: () => refuted('5000 schedules', explore(5_000, 1, mutated(name)).violation),
  })),
  {
    name: 'real readers: random schedules',
    run: async (first) => {
      for (let seed = first; seed < first + 10_000; seed += 1) {
        const { violation } = await runWatched(seed);
        if (violation !== undefined)
          return { looked: `${seed}`, fault: `seed ${seed}: ${violation}` };
      }
      return { looked: '10000 schedules' };
    },
  },
  {
    name: 'real journal: random cases',
    run: async (seed) => {
      const sound = fc.asyncProperty(journalCase, async (one) => {
        const faults = await runJournalled(one);
        if (faults.length > 0) throw new Error(faults.join(' · '));
      });
      const result = await fc.check(sound, { numRuns: 10_000, seed });
      const fault = `${JSON.stringify(result.counterexample)}: ${result.errorInstance}`;
      return { looked: `${result.numRuns} cases`, fault: result.failed ? fault : undefined };
    },
  },
  ...[
    { name: 'memory', open: timedMemoryStore, runs: 20_000 },
    { name: 'SQLite', open: timedSqliteStore, runs: 1_000 },
  ].map(({ name, open, runs }) => ({
    name: `real store, ${name}: random histories`,
    run: async (seed: number) => {
      const store = await open();
      const fault = await disagreement(store, { runs, seed });
      await store.close();
      return { looked: `${runs} histories`, fault };
    },
  })),
  ...STORE_RULES.map((rule) => ({
    name: `real store against a model without ${rule}`,
    run: async () => {
      const store = await timedMemoryStore();
      const found = await disagreement(store, { runs: 5_000, rules: without(rule) });
      return refuted('5000 histories', found === undefined ? undefined : 'they disagree');
    },
  })),
];

const commands: readonly Check[] = [
  ...[
    { name: 'memory', open: clockedMemoryStore, runs: 2_000 },
    { name: 'SQLite', open: clockedSqliteStore, runs: 400 },
    { name: 'PostgreSQL', open: clockedPostgresStore, runs: 200 },
  ].map(({ name, open, runs }) => ({
    name: `commands, ${name}: random histories`,
    run: async (seed: number) => {
      const store = await open();
      const { histories, done, fault } = await checkCommands(store, { runs, seed });
      await store.close();
      return { looked: `${histories} histories: ${doneText(done)}`, fault };
    },
  })),
  ...Object.entries(STORE_MUTANTS).map(([name, mutate]) => ({
    name: `commands, on a store where ${name}`,
    run: async () => {
      const store = await clockedMemoryStore();
      const { histories, fault } = await checkCommands(store, { runs: 1_500, mutate });
      return refuted(`${histories} histories`, fault && `in history ${histories}`);
    },
  })),
];

/** All checks; the longest are begun first. */
export const CHECKS: readonly Check[] = [...commands, ...sequence, ...real, ...ownership];
