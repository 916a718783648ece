import type { Change, ChangeKind, GitStatus } from '../ports/git.ts';

const KINDS: Readonly<Record<string, ChangeKind>> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type-changed',
};

/** Both sides touched the file, in one of the ways of git-status(1). */
const CONFLICTS: readonly string[] = ['DD', 'AU', 'UD', 'UA', 'DU', 'AA', 'UU'];

/** Reads `git status --porcelain=v1 --branch -z`. */
export function parseStatus(output: string): GitStatus {
  const fields = output.split('\0').filter((field) => field !== '');
  const changes: Change[] = [];
  let branch: string | undefined;
  for (let index = 0; index < fields.length; index += 1) {
    const field = fields[index] ?? '';
    const code = field.slice(0, 2);
    const path = field.slice(3);
    if (code === '##') branch = branchOf(path);
    else if (code === '??') changes.push({ path, kind: 'untracked', staged: false });
    else if (CONFLICTS.includes(code)) changes.push({ path, kind: 'conflicted', staged: false });
    else {
      const moved = /[RC]/.test(code);
      // The old name of a rename comes as a field of its own.
      if (moved) index += 1;
      const from = moved ? { from: fields[index] ?? '' } : {};
      changes.push(...changesOf(code, { path, ...from }));
    }
  }
  return branch === undefined ? { changes } : { branch, changes };
}

function changesOf(
  code: string,
  file: { readonly path: string; readonly from?: string },
): readonly Change[] {
  const [staged, unstaged] = [KINDS[code.charAt(0)], KINDS[code.charAt(1)]];
  return [
    ...(staged === undefined ? [] : [{ ...file, kind: staged, staged: true }]),
    ...(unstaged === undefined ? [] : [{ path: file.path, kind: unstaged, staged: false }]),
  ];
}

function branchOf(heading: string): string | undefined {
  if (heading.startsWith('HEAD (no branch)')) return undefined;
  return heading.replace(/^No commits yet on /, '').split('...')[0];
}
