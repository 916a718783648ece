import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the workspace that holds this file. */
export const WORKSPACE = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/**
 * The command line that all guards share: `--help` prints one line, `--root DIR` looks at another
 * tree (the tests show each guard a tree that breaks its rule). A guard answers a list of problems,
 * one sentence each; a report prints its lines itself and never fails.
 */
export async function guard({ name, help, check }) {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(`${name}: ${help}`);
    return;
  }
  const at = args.indexOf('--root');
  const root = at === -1 ? WORKSPACE : resolve(args[at + 1] ?? '.');
  const { problems, note } = await check(root, new Set(args));
  for (const problem of problems) console.error(`${name}: ${problem}`);
  if (problems.length > 0) {
    console.error(`${name}: ${problems.length} problem(s). ${help}`);
    process.exitCode = 1;
  } else {
    console.log(`${name}: fine${note === undefined ? '' : `, ${note}`}`);
  }
}
