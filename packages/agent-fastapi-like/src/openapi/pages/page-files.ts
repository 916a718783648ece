import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The files of the page, as they lie in the package that brings it: nothing of it comes from the net. */
export const PAGE_FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
} as const;
export type PageFile = keyof typeof PAGE_FILES;

const require = createRequire(import.meta.url);
const read = new Map<PageFile, Promise<Buffer>>();

/** The bytes of a file, read once. */
export function pageFile(name: PageFile): Promise<Buffer> {
  const known = read.get(name);
  if (known !== undefined) return known;
  const packageJson = require.resolve('@fastify/swagger-ui/package.json');
  const bytes = readFile(join(dirname(packageJson), 'static', name));
  read.set(name, bytes);
  return bytes;
}
