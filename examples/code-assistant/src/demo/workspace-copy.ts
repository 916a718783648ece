import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A copy of the sample, under Git, with everything that the demo keeps beside it. */
export interface WorkspaceCopy {
  readonly folder: string;
  /** Tells hexagent.config.ts where everything is. */
  readonly environment: Readonly<Record<string, string>>;
  /** How often the agent has changed a file on the disk. */
  writes(): number;
  diff(): string;
  remove(): void;
}

export function workspaceCopy(sample: string): WorkspaceCopy {
  const base = mkdtempSync(join(tmpdir(), 'hexagent-demo-'));
  const folder = join(base, 'workspace');
  const writeLog = join(base, 'writes.jsonl');
  cpSync(sample, folder, { recursive: true });
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  git('init', '--quiet');
  git('add', '--all');
  const author = ['-c', 'user.name=demo', '-c', 'user.email=demo@localhost'];
  git(...author, '-c', 'commit.gpgsign=false', 'commit', '--quiet', '--message', 'Sample');
  return {
    folder,
    environment: {
      HEXAGENT_WORKSPACE: folder,
      HEXAGENT_STORE: pathToFileURL(join(base, 'hexagent.db')).href,
      HEXAGENT_WRITE_LOG: writeLog,
    },
    writes: () =>
      existsSync(writeLog) ? readFileSync(writeLog, 'utf8').trimEnd().split('\n').length : 0,
    diff: () => git('diff', '--no-color'),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}
