import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Puts a copy of the code assistant's sample into a new folder, under Git. */
export function sampleWorkspace(folder: string): void {
  const manifest = createRequire(import.meta.url).resolve(
    '@hexagent/example-code-assistant/package.json',
  );
  cpSync(join(dirname(manifest), 'sample-workspace'), folder, { recursive: true });
  const git = (...args: readonly string[]): Buffer =>
    execFileSync('git', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  git('init', '--quiet');
  git('add', '--all');
  const author = ['-c', 'user.name=example', '-c', 'user.email=example@localhost'];
  git(...author, '-c', 'commit.gpgsign=false', 'commit', '--quiet', '--message', 'Sample');
}
