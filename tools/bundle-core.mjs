import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

// Bundles what agent-core publishes: its modules are many and small, and Node opens each one. One file an entry and a few
// shared ones import five times faster. rolldown is what Vite builds with, so the workspace has it already (MIT).
// Declarations stay as they are.

const DIST = join(dirname(fileURLToPath(import.meta.url)), '..', 'packages', 'agent-core', 'dist');
const OUT = join(DIST, 'bundle');
const staging = `${OUT}-${process.pid}`;

const bundle = await rolldown({
  input: Object.fromEntries(
    ['index', 'wire/index', 'testing/index'].map((entry) => [entry, join(DIST, `${entry}.js`)]),
  ),
  platform: 'neutral',
  external: () => false,
});
await bundle.write({
  dir: staging,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'shared/[name]-[hash].js',
});
await bundle.close();
await rm(OUT, { recursive: true, force: true });
try {
  await rename(staging, OUT);
} catch (error) {
  // Two packages may be packed at once: the other bundle is the same.
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  await rm(staging, { recursive: true, force: true });
}
