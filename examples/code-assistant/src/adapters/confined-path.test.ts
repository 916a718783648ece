import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { confinedPath } from './confined-path.ts';

function workspaceBesideSecrets(): { root: string; outside: string } {
  const base = temporaryFolder({
    'workspace/src/index.ts': 'export {};\n',
    'workspace/.git/config': '[core]\n',
    'outside/secret.txt': 'secret\n',
  });
  return { root: join(base, 'workspace'), outside: join(base, 'outside') };
}

test.each([
  ['an absolute path', '/etc/passwd', 'is absolute'],
  ['a Windows drive', 'C:/Windows/system.ini', 'is absolute'],
  ['a parent', '..', 'contains ".."'],
  ['a path through a parent', '../outside/secret.txt', 'contains ".."'],
  ['a parent that would come back', 'src/../src/index.ts', 'contains ".."'],
  ['a deep parent', 'src/../../outside/secret.txt', 'contains ".."'],
  ['a parent written with backslashes', '..\\outside\\secret.txt', 'contains a backslash'],
  ['a NUL character', 'src/index.ts\0.png', 'contains a NUL'],
  ['an endless path', 'a/'.repeat(3_000), 'is longer than'],
  ['a hook of Git', '.git/hooks/pre-commit', 'belongs to Git'],
  ['the settings of Git in other letters', '.GIT/config', 'belongs to Git'],
  ['the settings of Git with a trailing dot', '.git./config', 'belongs to Git'],
  ['the short name of Git', 'GIT~1/config', 'belongs to Git'],
  ['a nested repository', 'vendor/.git/config', 'belongs to Git'],
  ['the store of Hexagent', '.hexagent/store.db', 'belongs to Git or to Hexagent'],
  ['a file as a folder', 'src/index.ts/more.ts', 'which is a file'],
])('refuses %s', async (_what, path, why) => {
  const { root } = workspaceBesideSecrets();
  await expect(confinedPath(root, path)).rejects.toThrow(why);
});

test('refuses a link to a file outside', async () => {
  const { root, outside } = workspaceBesideSecrets();
  symlinkSync(join(outside, 'secret.txt'), join(root, 'notes.txt'));
  await expect(confinedPath(root, 'notes.txt')).rejects.toThrow('leads out of the workspace');
});

test('refuses a path through a linked folder, also for a file that does not exist', async () => {
  const { root, outside } = workspaceBesideSecrets();
  symlinkSync(outside, join(root, 'lib'));
  await expect(confinedPath(root, 'lib/secret.txt')).rejects.toThrow('leads out of the workspace');
  await expect(confinedPath(root, 'lib/new.txt')).rejects.toThrow('leads out of the workspace');
});

test('refuses a chain of links that ends outside', async () => {
  const { root, outside } = workspaceBesideSecrets();
  symlinkSync(outside, join(root, 'second'));
  symlinkSync('second', join(root, 'first'));
  await expect(confinedPath(root, 'first/secret.txt')).rejects.toThrow(
    'leads out of the workspace',
  );
});

test('refuses a relative link that climbs out', async () => {
  const { root } = workspaceBesideSecrets();
  symlinkSync('../../outside', join(root, 'src/up'));
  await expect(confinedPath(root, 'src/up/secret.txt')).rejects.toThrow(
    'leads out of the workspace',
  );
});

test('refuses a link that leads nowhere, since writing would create its target', async () => {
  const { root, outside } = workspaceBesideSecrets();
  symlinkSync(join(outside, 'new.txt'), join(root, 'dangling'));
  await expect(confinedPath(root, 'dangling')).rejects.toThrow('a link that leads nowhere');
});

test('refuses a link that leads to itself', async () => {
  const { root } = workspaceBesideSecrets();
  symlinkSync('loop', join(root, 'loop'));
  await expect(confinedPath(root, 'loop/file.ts')).rejects.toThrow('a link that leads nowhere');
});

test('refuses a link to what belongs to Git', async () => {
  const { root } = workspaceBesideSecrets();
  symlinkSync('.git', join(root, 'settings'));
  await expect(confinedPath(root, 'settings/config')).rejects.toThrow('belongs to Git');
});

test('refuses a folder whose name only begins like the root', async () => {
  const base = temporaryFolder({ 'work/a.txt': '', 'work-secret/b.txt': '' });
  symlinkSync(join(base, 'work-secret'), join(base, 'work/link'));
  await expect(confinedPath(join(base, 'work'), 'link/b.txt')).rejects.toThrow('leads out');
});

test('follows a link that stays inside, and names the real place', async () => {
  const { root } = workspaceBesideSecrets();
  symlinkSync('src', join(root, 'source'));
  expect(await confinedPath(root, 'source/index.ts')).toEqual({
    path: 'src/index.ts',
    absolute: join(root, 'src/index.ts'),
    exists: true,
  });
});

test('allows a file that does not exist yet, in folders that do not exist yet', async () => {
  const { root } = workspaceBesideSecrets();
  expect(await confinedPath(root, './docs//new/page.md')).toEqual({
    path: 'docs/new/page.md',
    absolute: join(root, 'docs/new/page.md'),
    exists: false,
  });
});

test('allows names that only look like a parent', async () => {
  const { root } = workspaceBesideSecrets();
  mkdirSync(join(root, '..hidden'));
  expect((await confinedPath(root, '..hidden')).exists).toBe(true);
  expect((await confinedPath(root, '...')).exists).toBe(false);
});

test('names the root itself', async () => {
  const { root } = workspaceBesideSecrets();
  expect(await confinedPath(root, '.')).toEqual({ path: '.', absolute: root, exists: true });
});
