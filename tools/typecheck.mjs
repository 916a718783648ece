import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { WORKSPACE } from './guards/guard.mjs';

const TSC = join(WORKSPACE, 'node_modules/typescript7/bin/tsc');
const AT_ONCE = 2;

if (process.argv.includes('--help')) {
  console.log('typecheck: type-checks the sources of all packages, then all tests and examples.');
  process.exit(0);
}

/** Tests and examples are no build projects: each has a config of its own that writes nothing. */
function checkedOnly() {
  const below = (folder, config) =>
    existsSync(join(WORKSPACE, folder))
      ? readdirSync(join(WORKSPACE, folder)).map((name) => join(folder, name, config))
      : [];
  return [
    ...below('packages', 'test/tsconfig.json'),
    ...below('examples', 'tsconfig.json'),
    ...below('tests', 'tsconfig.json'),
  ].filter((path) => existsSync(join(WORKSPACE, path)));
}

function tsc(...args) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [TSC, ...args], {
      cwd: WORKSPACE,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        output += data;
      });
    }
    child.on('close', (code) => {
      console.log(`${code === 0 ? 'fine  ' : 'failed'} tsc ${args.join(' ')}`);
      if (output !== '') console.log(output.trimEnd());
      done(code === 0);
    });
  });
}

const results = [await tsc('-b', 'tsconfig.json')];
if (existsSync(join(WORKSPACE, 'benchmarks/tsconfig.json')))
  results.push(await tsc('-b', 'benchmarks'));
const queue = checkedOnly();
const worker = async () => {
  for (let next = queue.shift(); next !== undefined; next = queue.shift())
    results.push(await tsc('-p', next));
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));
process.exitCode = results.every(Boolean) ? 0 : 1;
