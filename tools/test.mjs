import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

// The first stage installs: until it is done this file has nothing but Node.
const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

const node = (file, ...args) => [process.execPath, join(ROOT, file), ...args];
const bin = (name, ...args) => [join(ROOT, 'node_modules/.bin', name), ...args];
const SCRATCH = mkdtempSync(join(tmpdir(), 'hexagent-test-'));
const REPORT = join(SCRATCH, 'vitest.json');

/** One after another; a stage that fails does not stop the next, so that one run shows every problem. */
const STAGES = [
  {
    name: 'install',
    command: ['npx', '-y', packageManager, 'install', '--frozen-lockfile'],
    first: true,
  },
  { name: 'clean', command: node('tools/clean.mjs') },
  { name: 'build', command: bin('turbo', 'run', 'build:ts', 'build') },
  { name: 'types', command: node('tools/typecheck.mjs') },
  { name: 'lint', command: bin('biome', 'check', '.') },
  {
    name: 'dependencies',
    command: bin('depcruise', 'packages', '--config', '.dependency-cruiser.cjs'),
  },
  { name: 'unused', command: bin('knip') },
  { name: 'layers', command: node('tools/guards/layers.mjs') },
  { name: 'cycles', command: node('tools/guards/cycles.mjs') },
  { name: 'core output', command: node('tools/guards/core-output.mjs') },
  { name: 'public names', command: node('tools/guards/public-names.mjs') },
  { name: 'manifests', command: node('tools/guards/manifests.mjs') },
  { name: 'error catalogue', command: node('tools/guards/error-catalog.mjs') },
  { name: 'contract map', command: node('tools/guards/contract-map.mjs') },
  { name: 'coverage exceptions', command: node('tools/guards/coverage-exceptions.mjs') },
  { name: 'casts', command: node('tools/guards/casts.mjs') },
  { name: 'sizes', command: node('tools/guards/sizes.mjs') },
  {
    name: 'tests',
    command: node(
      'tests/postgres/with-postgres.mjs',
      ...bin('vitest', 'run', '--coverage', '--reporter=default', '--reporter=json'),
      `--outputFile.json=${REPORT}`,
    ),
    count: countTests,
  },
  { name: 'snippets', command: node('tools/docs/snippets.mjs') },
  { name: 'packages', command: bin('turbo', 'run', 'check:package') },
  { name: 'readme commands', command: node('tools/docs/shell-snippets.mjs') },
];

const HELP = `npm test: installs, builds, checks and tests everything, and ends with "N passed, M failed".
  npm test -- --only tests,snippets   only these stages
  npm test -- --list                  the stages, in order`;

/** Vitest's own counts; what failed beside a test (a file that does not load, a coverage threshold) counts as one each. */
function countTests(exitCode) {
  if (!existsSync(REPORT)) return { passed: 0, failed: 1, notes: ['vitest wrote no report'] };
  const report = JSON.parse(readFileSync(REPORT, 'utf8'));
  const notes = [];
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  for (const { name } of unloaded) notes.push(`${relative(ROOT, name)} did not load`);
  let failed = report.numFailedTests + unloaded.length;
  if (exitCode !== 0 && failed === 0) {
    failed = 1;
    notes.push('every test passed, but a coverage threshold or something outside a test failed');
  }
  const skipped = report.testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => ['pending', 'skipped', 'todo'].includes(status)),
  );
  for (const { fullName } of skipped) notes.push(`skipped: ${fullName}`);
  return { passed: report.numPassedTests, failed, notes };
}

function chosen(args) {
  const at = args.indexOf('--only');
  if (at === -1) return STAGES;
  const wanted = (args[at + 1] ?? '').split(',').map((name) => name.trim());
  const unknown = wanted.filter((name) => !STAGES.some((stage) => stage.name === name));
  if (unknown.length > 0) {
    console.error(
      `There is no stage "${unknown.join('", "')}". Stages: ${STAGES.map(({ name }) => name).join(', ')}.`,
    );
    process.exit(2);
  }
  return STAGES.filter(({ name }) => wanted.includes(name));
}

/** Nothing may ask: CI without a terminal answers no question. Nothing may tell: no tool phones home. */
const ENVIRONMENT = {
  ...process.env,
  CI: 'true',
  PATH: [join(ROOT, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  TURBO_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
};

function runStage({ name, command, count }) {
  console.log(`\n── ${name} ${'─'.repeat(Math.max(3, 76 - name.length))}`);
  const start = process.hrtime.bigint();
  const { status, error, signal } = spawnSync(command[0], command.slice(1), {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: ENVIRONMENT,
  });
  if (error !== undefined) console.error(`${command.join(' ')}: ${error.message}`);
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  const exitCode = status ?? signal ?? 1;
  const fine = exitCode === 0;
  const counted = count?.(exitCode) ?? { passed: fine ? 1 : 0, failed: fine ? 0 : 1, notes: [] };
  console.log(`${fine ? 'passed' : 'FAILED'}  ${name}  ${seconds.toFixed(1)} s`);
  return { name, seconds, fine, ...counted };
}

function main(args) {
  if (args.includes('--help')) return console.log(HELP);
  if (args.includes('--list')) return console.log(STAGES.map(({ name }) => name).join('\n'));
  const results = [];
  for (const stage of chosen(args)) {
    const result = runStage(stage);
    results.push(result);
    if (stage.first && !result.fine) break;
  }
  console.log(`\n── summary ${'─'.repeat(69)}`);
  for (const { name, seconds, fine, passed, failed, notes } of results) {
    const outcome = failed === 0 ? `${passed} passed` : `${passed} passed, ${failed} FAILED`;
    console.log(
      `${fine ? 'passed' : 'FAILED'}  ${name.padEnd(20)} ${seconds.toFixed(1).padStart(7)} s  ${outcome}`,
    );
    for (const note of notes) console.log(`        ${note}`);
  }
  const total = (key) => results.reduce((sum, result) => sum + result[key], 0);
  console.log(`\n${total('passed')} passed, ${total('failed')} failed`);
  process.exitCode = results.every(({ fine, failed }) => fine && failed === 0) ? 0 : 1;
}

try {
  main(process.argv.slice(2));
} finally {
  rmSync(SCRATCH, { recursive: true, force: true });
}
