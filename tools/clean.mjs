import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { WORKSPACE } from './guards/guard.mjs';

if (process.argv.includes('--help')) {
  console.log(
    'clean: removes what was built. `tsc -b` leaves the output of deleted sources, and a package would carry it.',
  );
  process.exit(0);
}

const below = (folder, name) =>
  existsSync(join(WORKSPACE, folder))
    ? readdirSync(join(WORKSPACE, folder)).map((each) => join(folder, each, name))
    : [];
const BUILT = [
  ...below('packages', 'dist'),
  ...below('packages', 'coverage'),
  ...below('examples', 'dist'),
  'benchmarks/dist',
  'tests/snippets/out',
  'coverage',
  'api',
];
for (const path of BUILT) rmSync(join(WORKSPACE, path), { recursive: true, force: true });
