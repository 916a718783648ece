import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { going, temporaryFolder } from '../../test/temporary-folder.ts';
import { localGit } from './local-git.ts';

function repository(files: Readonly<Record<string, string>> = { 'a.txt': 'one\ntwo\n' }): string {
  const root = temporaryFolder(files);
  run(root, 'init', '--quiet', '--initial-branch=main');
  run(root, 'add', '--all');
  commit(root);
  return root;
}

/** Whoever runs the tests may have told git nothing about themselves, or that commits are signed. */
const OWN = ['user.name=Test', 'user.email=test@example.org', 'commit.gpgsign=false'].flatMap(
  (setting) => ['-c', setting],
);

function run(root: string, ...args: readonly string[]): string {
  return execFileSync('git', [...OWN, ...args], { cwd: root, encoding: 'utf8', stdio: 'pipe' });
}

function commit(root: string): void {
  run(root, 'commit', '--quiet', '--allow-empty', '--message', 'state');
}

const PATCH = `--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 one
-two
+zwei
`;

test('lists changes of the files and of the index', async () => {
  const root = repository({
    'a.txt': 'one\n',
    'b.txt': 'a\nb\nc\nd\n',
    'c.txt': 'c\n',
    'd e.txt': 'd\n',
  });
  writeFileSync(join(root, 'a.txt'), 'changed\n');
  run(root, 'add', 'a.txt');
  writeFileSync(join(root, 'a.txt'), 'changed again\n');
  renameSync(join(root, 'b.txt'), join(root, 'moved.txt'));
  run(root, 'add', '--all', 'b.txt', 'moved.txt');
  run(root, 'rm', '--quiet', 'c.txt');
  writeFileSync(join(root, 'new\nline.txt'), '');
  const status = await localGit(root).status(going);
  expect(status.branch).toBe('main');
  expect(status.changes).toEqual([
    { path: 'a.txt', kind: 'modified', staged: true },
    { path: 'a.txt', kind: 'modified', staged: false },
    { path: 'c.txt', kind: 'deleted', staged: true },
    { path: 'moved.txt', from: 'b.txt', kind: 'renamed', staged: true },
    { path: 'new\nline.txt', kind: 'untracked', staged: false },
  ]);
});

test('names the branch before its first commit, and none for a detached head', async () => {
  const root = temporaryFolder();
  run(root, 'init', '--quiet', '--initial-branch=topic');
  expect(await localGit(root).status(going)).toEqual({ branch: 'topic', changes: [] });
  commit(root);
  run(root, 'checkout', '--quiet', '--detach');
  expect(await localGit(root).status(going)).toEqual({ changes: [] });
});

test('tells conflicts from other changes', async () => {
  const root = repository();
  run(root, 'checkout', '--quiet', '-b', 'other');
  writeFileSync(join(root, 'a.txt'), 'one\nother\n');
  run(root, 'add', 'a.txt');
  commit(root);
  run(root, 'checkout', '--quiet', 'main');
  writeFileSync(join(root, 'a.txt'), 'one\nmain\n');
  run(root, 'add', 'a.txt');
  commit(root);
  expect(() => run(root, 'merge', 'other')).toThrow();
  expect((await localGit(root).status(going)).changes).toEqual([
    { path: 'a.txt', kind: 'conflicted', staged: false },
  ]);
});

test('shows the diff of the files, of the index, of one path', async () => {
  const root = repository({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
  writeFileSync(join(root, 'a.txt'), 'two\n');
  writeFileSync(join(root, 'b.txt'), 'two\n');
  run(root, 'add', 'b.txt');
  const git = localGit(root);
  expect((await git.diff(going)).diff).toMatch(/^-one\n\+two$/m);
  expect((await git.diff(going)).diff).not.toContain('b.txt');
  expect((await git.diff({ ...going, staged: true })).diff).toContain('+++ b/b.txt');
  expect(await git.diff({ ...going, path: 'b.txt' })).toEqual({ diff: '', complete: true });
  await expect(git.diff({ ...going, path: '../a.txt' })).rejects.toThrow('contains ".."');
});

test('cuts a long diff in the middle and says so', async () => {
  const root = repository();
  writeFileSync(join(root, 'a.txt'), 'line\n'.repeat(1_000));
  const { diff, complete } = await localGit(root, { maxDiffBytes: 400 }).diff(going);
  expect(complete).toBe(false);
  expect(diff).toContain('bytes left out');
});

test('a path is a path, never a pattern or an option', async () => {
  const root = repository({ 'a.txt': 'one\n' });
  writeFileSync(join(root, 'a.txt'), 'two\n');
  const git = localGit(root);
  expect((await git.diff({ ...going, path: '*.txt' })).diff).toBe('');
  expect((await git.diff({ ...going, path: '--output=owned' })).diff).toBe('');
  expect(existsSync(join(root, 'owned'))).toBe(false);
});

test('runs none of the programs that a repository names in its settings', async () => {
  const root = repository({ 'a.txt': 'one\n', '.gitattributes': '*.txt diff=evil\n' });
  const evil = `${process.execPath} -e "require('fs').writeFileSync('${root}.owned','')"`;
  run(root, 'config', 'core.fsmonitor', evil);
  run(root, 'config', 'diff.external', evil);
  run(root, 'config', 'diff.evil.textconv', evil);
  writeFileSync(join(root, 'a.txt'), 'two\n');
  const git = localGit(root);
  await git.status(going);
  expect((await git.diff(going)).diff).toContain('+two');
  expect(existsSync(`${root}.owned`)).toBe(false);
});

test('applies a patch once', async () => {
  const root = repository();
  const git = localGit(root);
  expect(await git.check(PATCH, going)).toBe('applies');
  expect(await git.apply(PATCH, going)).toEqual({ files: ['a.txt'], changed: true });
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\nzwei\n');
  expect(await git.check(PATCH, going)).toBe('applied');
  expect(await git.apply(PATCH, going)).toEqual({ files: ['a.txt'], changed: false });
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\nzwei\n');
});

test('applies all of a patch or nothing', async () => {
  const root = repository({ 'a.txt': 'one\ntwo\n', 'b.txt': 'other\n' });
  const both = `${PATCH}--- a/b.txt
+++ b/b.txt
@@ -1 +1 @@
-something else
+new
`;
  const git = localGit(root);
  expect(await git.check(both, going)).toBe('conflicts');
  await expect(git.apply(both, going)).rejects.toThrow('patch does not apply');
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
});

test('says that it cannot tell when a patch fits both ways', async () => {
  const root = repository({ 'a.txt': 'top\na\nx\nb\nmiddle\na\ny\nb\nend\n' });
  const patch = '--- a/a.txt\n+++ b/a.txt\n@@ -2,3 +2,3 @@\n a\n-x\n+y\n b\n';
  expect(await localGit(root).check(patch, going)).toBe('ambiguous');
});

test.each([
  ['outside', '--- a/../out.txt\n+++ b/../out.txt\n@@ -0,0 +1 @@\n+x\n'],
  [
    'in the hooks of Git',
    'diff --git a/.git/hooks/x b/.git/hooks/x\nnew file mode 100755\n--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n',
  ],
  [
    'behind a link',
    'diff --git a/lib/x b/lib/x\nnew file mode 100644\n--- /dev/null\n+++ b/lib/x\n@@ -0,0 +1 @@\n+x\n',
  ],
  [
    'as a new link',
    'diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n',
  ],
])('refuses a patch that writes %s', async (_what, patch) => {
  const base = temporaryFolder({ 'outside/there.txt': '' });
  const root = repository();
  symlinkSync(join(base, 'outside'), join(root, 'lib'));
  const git = localGit(root);
  await expect(git.apply(patch, going)).rejects.toThrow();
  expect(existsSync(join(base, 'outside/x'))).toBe(false);
  expect(existsSync(join(root, '.git/hooks/x'))).toBe(false);
  expect(existsSync(join(root, 'l'))).toBe(false);
});

test('reads an absolute path in a patch as one below the workspace', async () => {
  const root = repository();
  const patch = '--- /dev/null\n+++ /etc/out.txt\n@@ -0,0 +1 @@\n+x\n';
  expect((await localGit(root).apply(patch, going)).files).toEqual(['etc/out.txt']);
  expect(existsSync(join(root, 'etc/out.txt'))).toBe(true);
});

test.each([
  ['an empty patch', ' \n', 'The patch is empty'],
  ['prose', 'Please change line two.', 'git apply failed'],
  ['a patch above the limit', 'x'.repeat(2_000), 'has more than 1000 bytes'],
])('refuses %s', async (_what, patch, why) => {
  await expect(
    localGit(repository(), { maxPatchBytes: 1_000 }).apply(patch, going),
  ).rejects.toThrow(why);
});

test('does not use a repository around the workspace', async () => {
  const outer = repository();
  mkdirSync(join(outer, 'inner'));
  await expect(localGit(join(outer, 'inner')).status(going)).rejects.toThrow(
    'is not the top folder of a Git repository',
  );
});

test('stops with its signal and at its timeout', async () => {
  const root = repository();
  await expect(
    localGit(root).diff({ signal: AbortSignal.abort(new Error('stopped')) }),
  ).rejects.toThrow('stopped');
  // A filter that never answers stands for a repository that is too large.
  run(root, 'config', 'filter.slow.clean', `${process.execPath} -e "setInterval(()=>{},9)"`);
  writeFileSync(join(root, '.gitattributes'), '*.txt filter=slow\n');
  writeFileSync(join(root, 'a.txt'), 'one\nTWO\n');
  const git = localGit(root, { timeoutMs: 500 });
  await expect(git.diff(going)).rejects.toThrow('git diff took too long');
});
