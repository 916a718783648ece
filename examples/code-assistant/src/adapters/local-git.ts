import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Git, PatchState } from '../ports/git.ts';
import { confinedPath } from './confined-path.ts';
import { parseStatus } from './git-status.ts';
import { reducedEnvironment } from './reduced-environment.ts';
import { type Finished, runProgram } from './run-program.ts';

export type LocalGitOptions = {
  readonly timeoutMs?: number;
  /** Default 48 KiB, below what a tool result may hold. */
  readonly maxDiffBytes?: number;
  readonly maxPatchBytes?: number;
};

/** A repository's own settings can name programs; none of them runs because a model asked for a diff. */
const SAFE = [
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
  '--literal-pathspecs',
];

/** A patch that makes a link or a submodule could lead later writes out of the workspace. */
const LINK_MODE =
  /^(?:new file mode|deleted file mode|new mode|old mode|index [0-9a-f.]+) 1[26]0000$/m;

type Stopping = { readonly signal: AbortSignal };

/** Git's own program on the repository whose top folder is `root`; never on one around it. */
export function localGit(root: string, options: LocalGitOptions = {}): Git {
  const { timeoutMs = 30_000, maxDiffBytes = 49_152, maxPatchBytes = 262_144 } = options;
  const top = realpathSync(root);
  const environment = reducedEnvironment({
    GIT_CEILING_DIRECTORIES: dirname(top),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  });

  const git = (
    args: readonly string[],
    {
      signal,
      input,
      maxOutputBytes = 4_194_304,
    }: Stopping & {
      readonly input?: string;
      readonly maxOutputBytes?: number;
    },
  ): Promise<Finished> =>
    runProgram(
      {
        command: 'git',
        args: [...SAFE, ...args],
        folder: top,
        environment,
        timeoutMs,
        maxOutputBytes,
        ...(input === undefined ? {} : { input }),
      },
      { signal },
    );

  const answered = async (...call: Parameters<typeof git>): Promise<string> => {
    const finished = await git(...call);
    if (finished.exitCode !== 0 || finished.timedOut) throw failed(call[0], finished);
    return finished.stdout;
  };

  const filesOf = async (patch: string, { signal }: Stopping): Promise<readonly string[]> => {
    if (patch.trim() === '') throw new Error('The patch is empty. Give a unified diff.');
    if (Buffer.byteLength(patch) > maxPatchBytes) {
      throw new Error(`The patch has more than ${maxPatchBytes} bytes. Split it.`);
    }
    if (LINK_MODE.test(patch)) {
      throw new Error(
        'The patch touches a symbolic link or a submodule, which is not allowed here.',
      );
    }
    const numbers = await answered(['apply', '--numstat', '-z', '-'], { signal, input: patch });
    const files = numbers.split('\0').flatMap((line) => line.split('\t')[2] ?? []);
    for (const file of files) await confinedPath(top, file);
    return files;
  };

  const check = async (patch: string, { signal }: Stopping): Promise<PatchState> => {
    await filesOf(patch, { signal });
    const fits = async (...direction: readonly string[]): Promise<boolean> =>
      (await git(['apply', '--check', ...direction, '-'], { signal, input: patch })).exitCode === 0;
    const [forward, backward] = [await fits(), await fits('--reverse')];
    if (forward) return backward ? 'ambiguous' : 'applies';
    return backward ? 'applied' : 'conflicts';
  };

  return {
    status: async ({ signal }) =>
      parseStatus(
        await answered(['status', '--porcelain=v1', '--branch', '--untracked-files=all', '-z'], {
          signal,
        }),
      ),

    diff: async ({ staged = false, path, signal }) => {
      const place = path === undefined ? [] : ['--', (await confinedPath(top, path)).path];
      const args = ['diff', '--no-color', '--no-ext-diff', '--no-textconv'];
      const finished = await git([...args, ...(staged ? ['--cached'] : []), ...place], {
        signal,
        maxOutputBytes: maxDiffBytes,
      });
      if (finished.exitCode !== 0 || finished.timedOut) throw failed(args, finished);
      return { diff: finished.stdout, complete: finished.omittedBytes === 0 };
    },

    check,

    apply: async (patch, { signal }) => {
      const files = await filesOf(patch, { signal });
      if ((await check(patch, { signal })) === 'applied') return { files, changed: false };
      // The check again, for its words: what does not fit, and where.
      await answered(['apply', '--check', '-'], { signal, input: patch });
      await answered(['apply', '--whitespace=nowarn', '-'], { signal, input: patch });
      return { files, changed: true };
    },
  };
}

function failed(args: readonly string[], { stderr, timedOut }: Finished): Error {
  if (timedOut) return new Error(`git ${args[0]} took too long and was stopped.`);
  if (stderr.includes('not a git repository')) {
    return new Error(
      'The workspace is not the top folder of a Git repository. Run "git init" in it.',
    );
  }
  return new Error(`git ${args[0]} failed: ${stderr.trim()}`);
}
