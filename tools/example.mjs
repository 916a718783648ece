import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

// Runs before anything is installed: nothing but Node here.
const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const [name, script = 'start'] = process.argv.slice(2);

if (name === undefined || name === '--help') {
  console.log(
    'example FOLDER [SCRIPT]: installs what an example needs, builds the packages it uses, and runs its script.',
  );
  process.exit(name === undefined ? 2 : 0);
}
const folder = join(ROOT, 'examples', name);
if (!existsSync(join(folder, 'package.json'))) {
  console.error(`There is no example "${name}" in examples/.`);
  process.exit(2);
}
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
const { packageManager } = readJson(join(ROOT, 'package.json'));
const manifest = readJson(join(folder, 'package.json'));

/** Quiet, unless it fails. */
function prepare(what, command, ...args) {
  console.log(what);
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CI: 'true' },
  });
  if (status === 0) return;
  console.error(`${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`);
  console.error(`This failed: ${[command, ...args].join(' ')}`);
  process.exit(1);
}

const used = Object.keys(manifest.dependencies ?? {})
  .filter((dependency) => dependency.startsWith('@hexagent/agent-'))
  .map((dependency) => `packages/${dependency.slice('@hexagent/'.length)}`);
prepare(
  'Installing…',
  'npx',
  '-y',
  packageManager,
  'install',
  '--frozen-lockfile',
  '--filter',
  `${manifest.name}...`,
);
prepare(
  'Building…',
  process.execPath,
  join(ROOT, 'node_modules/typescript7/bin/tsc'),
  '-b',
  ...used,
);
// Ctrl-C goes to the script as well, which ends in its own order: this waits for it.
process.on('SIGINT', () => undefined);
const { status } = spawnSync('npm', ['run', '--silent', script], { cwd: folder, stdio: 'inherit' });
process.exitCode = status ?? 1;
