import fc from 'fast-check';
import { hasCycle, search, walk } from '../models/ownership/explore.mjs';
import { RULES } from '../models/ownership/model.mjs';
import { LARGE, REFUTATIONS, SCENARIOS } from '../models/ownership/scenarios.mjs';
import { exhaust, explore } from '../models/sequence/explore.mjs';
import { mutants } from '../models/sequence/mutants.mjs';
import { journalCase, runJournalled } from '../src/journal/run-journalled.ts';
import { disagreement } from '../src/ownership/disagreement.ts';
import { STORE_RULES, without } from '../src/ownership/store-rules.ts';
import { timedMemoryStore, timedSqliteStore } from '../src/ownership/stores.ts';
import { mutated, REAL_MUTANTS, type RealMutant } from '../src/sequence/real-mutants.ts';
import { REAL_PARTS } from '../src/sequence/real-parts.ts';
import { runWatched } from '../src/sequence/run-watched.ts';

const HELP = `npm run spec: explores the executable models completely, and the product against them; about half an hour.
  npm run spec -- sequence real      only the parts whose name begins so`;

/** What one check found: how much was looked at, and why it fails. */
type Finding = { readonly looked: string; readonly fault?: string | undefined };
type Check = { readonly name: string; readonly run: () => Finding | Promise<Finding> };

const refuted = (looked: string, why: string | undefined): Finding => ({
  looked: why === undefined ? looked : `refuted: ${why.slice(0, 70)}`,
  fault: why === undefined ? 'it was not noticed' : undefined,
});

const sequence: readonly Check[] = [
  {
    name: 'sequence: random schedules',
    run: () => {
      const { seen, violation } = explore(20_000, 1);
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
    run: () => {
      const { visited, why } = walk(scenario, RULES, 1_000);
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
    run: () => {
      const { seen, seed, violation } = explore(30_000, 1, REAL_PARTS);
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
    run: async () => {
      for (let seed = 1; seed <= 10_000; seed += 1) {
        const { violation } = await runWatched(seed);
        if (violation !== undefined)
          return { looked: `${seed}`, fault: `seed ${seed}: ${violation}` };
      }
      return { looked: '10000 schedules' };
    },
  },
  {
    name: 'real journal: random cases',
    run: async () => {
      const sound = fc.asyncProperty(journalCase, async (one) => {
        const faults = await runJournalled(one);
        if (faults.length > 0) throw new Error(faults.join(' · '));
      });
      const result = await fc.check(sound, { numRuns: 10_000, seed: 1 });
      const fault = `${JSON.stringify(result.counterexample)}: ${result.errorInstance}`;
      return { looked: `${result.numRuns} cases`, fault: result.failed ? fault : undefined };
    },
  },
  ...[
    { name: 'memory', open: timedMemoryStore, runs: 20_000 },
    { name: 'SQLite', open: timedSqliteStore, runs: 2_000 },
  ].map(({ name, open, runs }) => ({
    name: `real store, ${name}: random histories`,
    run: async () => {
      const store = await open();
      const fault = await disagreement(store, { runs });
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

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) {
    console.log(HELP);
    return;
  }
  const chosen = [...sequence, ...real, ...ownership].filter(
    ({ name }) => args.length === 0 || args.some((start) => name.startsWith(start)),
  );
  let failed = 0;
  for (const { name, run } of chosen) {
    const started = performance.now();
    const { looked, fault } = await run();
    if (fault !== undefined) failed += 1;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(
      `${fault === undefined ? '✓' : '✗'} ${name.padEnd(62)} ${seconds.padStart(7)} s  ${looked}`,
    );
    if (fault !== undefined) console.log(`    ${fault}`);
  }
  console.log(`${chosen.length - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || chosen.length === 0 ? 1 : 0;
}

await main(process.argv.slice(2));
