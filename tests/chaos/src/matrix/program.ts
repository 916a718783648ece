import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The program of the processes: one file of it and of the packages' sources, since hundreds of processes start it. */
export async function buildProgram(): Promise<{
  readonly file: string;
  readonly remove: () => void;
}> {
  await mkdir(join(ROOT, 'dist'), { recursive: true });
  // Inside this package, where the drivers of the databases are found.
  const folder = mkdtempSync(join(ROOT, 'dist/program-'));
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true, resolve: { conditions: ['development'] } },
    build: {
      ssr: 'src/child/main.ts',
      outDir: folder,
      target: 'node20',
      sourcemap: true,
      rollupOptions: { output: { entryFileNames: 'main.mjs' } },
    },
  });
  return {
    file: join(folder, 'main.mjs'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
