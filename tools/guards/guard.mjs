import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the workspace that holds this file. */
export const WORKSPACE = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/**
 * The command line that all guards share, when the guard is the file that Node was started with:
 * `--help` prints one line, `--root DIR` looks at another tree. A guard answers `{ problems, lines?, note? }`,
 * one sentence a problem; a report has lines and no problems.
 */
export async function command(meta, { name, help, check }) {
  if (process.argv[1] === undefined || resolve(process.argv[1]) !== fileURLToPath(meta.url)) return;
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(`${name}: ${help}`);
    return;
  }
  const at = args.indexOf('--root');
  const root = at === -1 ? WORKSPACE : resolve(args[at + 1] ?? '.');
  const { problems, lines = [], note } = await check(root, new Set(args));
  for (const line of lines) console.log(line);
  for (const problem of problems) console.error(`${name}: ${problem}`);
  if (problems.length > 0) {
    console.error(`${name}: ${problems.length} problem(s). ${help}`);
    process.exitCode = 1;
  } else {
    console.log(`${name}: fine${note === undefined ? '' : `, ${note}`}`);
  }
}
