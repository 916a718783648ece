import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { going, temporaryFolder } from '../../test/temporary-folder.ts';
import { localWorkspace } from './local-workspace.ts';

if (process.platform === 'win32') {
  console.log('Windows has no named pipes in folders: one test of the workspace is skipped here.');
}

const stopped = { signal: AbortSignal.abort(new Error('stopped')) };

test('is refused for a folder that is not one', () => {
  const root = temporaryFolder({ 'file.txt': '' });
  expect(() => localWorkspace(join(root, 'file.txt'))).toThrow('is not a folder');
  expect(() => localWorkspace(join(root, 'missing'))).toThrow('ENOENT');
});

test('reads a file, with a revision that names its content', async () => {
  const root = temporaryFolder({ 'a.txt': 'one\ntwo\nthree\n' });
  const workspace = localWorkspace(root);
  const file = await workspace.read('a.txt', going);
  expect(file).toEqual({
    path: 'a.txt',
    revision: workspace.revisionOf('one\ntwo\nthree\n'),
    text: 'one\ntwo\nthree\n',
    fromLine: 1,
    toLine: 3,
    totalLines: 3,
    complete: true,
  });
});

test('reads some lines', async () => {
  const workspace = localWorkspace(temporaryFolder({ 'a.txt': 'one\ntwo\nthree\n' }));
  const file = await workspace.read('a.txt', { ...going, fromLine: 2, toLine: 2 });
  expect(file).toMatchObject({
    text: 'two\n',
    fromLine: 2,
    toLine: 2,
    totalLines: 3,
    complete: true,
  });
  const beyond = await workspace.read('a.txt', { ...going, fromLine: 9 });
  expect(beyond).toMatchObject({ text: '', totalLines: 3 });
});

test('reads an empty file', async () => {
  const workspace = localWorkspace(temporaryFolder({ 'a.txt': '' }));
  expect(await workspace.read('a.txt', going)).toMatchObject({
    text: '',
    totalLines: 0,
    complete: true,
  });
});

test('stops at its output budget, at the end of a line where there is one', async () => {
  const root = temporaryFolder({ 'long.txt': 'aaaa\nbbbb\ncccc\n', 'line.txt': 'x'.repeat(100) });
  const workspace = localWorkspace(root, { maxReadBytes: 12 });
  expect(await workspace.read('long.txt', going)).toMatchObject({
    text: 'aaaa\nbbbb\n',
    toLine: 2,
    complete: false,
  });
  expect(await workspace.read('line.txt', going)).toMatchObject({ text: 'xxx', complete: false });
});

test.each([
  ['a missing file', 'missing.txt', 'There is no file "missing.txt"'],
  ['a folder', 'folder', 'is not a file'],
  ['a file with NUL bytes', 'nul.bin', 'is a binary file'],
  ['a file that is not UTF-8', 'latin.txt', 'is a binary file'],
  ['a file above the limit', 'large.txt', 'has 2000 bytes; the limit is 1000'],
])('does not read %s', async (_what, path, why) => {
  const root = temporaryFolder({
    'folder/inside.txt': '',
    'nul.bin': Uint8Array.of(80, 75, 3, 4, 0, 0),
    'latin.txt': Uint8Array.of(0x63, 0x61, 0x66, 0xe9),
    'large.txt': 'x'.repeat(2_000),
  });
  await expect(localWorkspace(root, { maxFileBytes: 1_000 }).read(path, going)).rejects.toThrow(
    why,
  );
});

test.skipIf(process.platform === 'win32')(
  'does not wait for a pipe that nobody fills',
  async () => {
    const root = temporaryFolder();
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await expect(localWorkspace(root).read('pipe', going)).rejects.toThrow('is not a file');
  },
);

test('creates a file in new folders', async () => {
  const root = temporaryFolder();
  const workspace = localWorkspace(root);
  const written = await workspace.write({ path: 'docs/new/page.md', content: '# Page ✓\n' }, going);
  expect(written).toEqual({
    path: 'docs/new/page.md',
    revision: workspace.revisionOf('# Page ✓\n'),
    bytes: 11,
    changed: true,
  });
  expect(readFileSync(join(root, 'docs/new/page.md'), 'utf8')).toBe('# Page ✓\n');
  expect(readdirSync(join(root, 'docs/new'))).toEqual(['page.md']);
});

test('replaces what was read, and keeps its mode', async () => {
  const root = temporaryFolder({ 'run.sh': 'old\n' });
  chmodSync(join(root, 'run.sh'), 0o755);
  const workspace = localWorkspace(root);
  const { revision } = await workspace.read('run.sh', going);
  await workspace.write({ path: 'run.sh', content: 'new\n', replaces: revision }, going);
  expect(readFileSync(join(root, 'run.sh'), 'utf8')).toBe('new\n');
  if (process.platform !== 'win32') expect(statSync(join(root, 'run.sh')).mode & 0o777).toBe(0o755);
});

test('writes the same content once, and says so', async () => {
  const root = temporaryFolder({ 'a.txt': 'old\n' });
  const writeLog = join(temporaryFolder(), 'writes.jsonl');
  const workspace = localWorkspace(root, { writeLog });
  const { revision } = await workspace.read('a.txt', going);
  const file = { path: 'a.txt', content: 'new\n', replaces: revision };
  expect((await workspace.write(file, going)).changed).toBe(true);
  const before = statSync(join(root, 'a.txt')).mtimeMs;
  expect((await workspace.write(file, going)).changed).toBe(false);
  expect(statSync(join(root, 'a.txt')).mtimeMs).toBe(before);
  expect(readFileSync(writeLog, 'utf8').trim().split('\n')).toHaveLength(1);
});

test.each([
  ['a file that was never read', {}, 'exists already. Read it'],
  ['a file that changed meanwhile', { replaces: 'f'.repeat(32) }, 'is not what you read'],
])('does not overwrite %s', async (_what, condition, why) => {
  const root = temporaryFolder({ 'a.txt': 'theirs\n' });
  await expect(
    localWorkspace(root).write({ path: 'a.txt', content: 'mine\n', ...condition }, going),
  ).rejects.toThrow(why);
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('theirs\n');
  expect(readdirSync(root)).toEqual(['a.txt']);
});

test('does not bring back a file that was deleted meanwhile', async () => {
  const workspace = localWorkspace(temporaryFolder());
  await expect(
    workspace.write({ path: 'a.txt', content: 'x', replaces: 'f'.repeat(32) }, going),
  ).rejects.toThrow('does not exist any more');
});

test.each([
  ['above the limit', 'x'.repeat(1_001), 'has 1001 bytes; the limit is 1000'],
  ['with a NUL character', 'a\0b', 'is not text'],
  ['with half a surrogate pair', 'a\ud800b', 'is not text'],
])('does not write content %s', async (_what, content, why) => {
  const root = temporaryFolder();
  await expect(
    localWorkspace(root, { maxFileBytes: 1_000 }).write({ path: 'a.txt', content }, going),
  ).rejects.toThrow(why);
  expect(readdirSync(root)).toEqual([]);
});

test('does not write over a binary file or a folder', async () => {
  const root = temporaryFolder({ 'a.bin': Uint8Array.of(0, 1), 'folder/b.txt': '' });
  const workspace = localWorkspace(root);
  await expect(workspace.write({ path: 'a.bin', content: 'x' }, going)).rejects.toThrow('binary');
  await expect(workspace.write({ path: 'folder', content: 'x' }, going)).rejects.toThrow(
    'not a file',
  );
});

test.each([
  ['up', '../outside.txt'],
  ['by an absolute path', '/outside.txt'],
  ['through a linked folder', 'lib/outside.txt'],
  ['through a link to a file', 'notes.txt'],
  ['through a link that leads nowhere', 'dangling.txt'],
  ['into the hooks of Git', '.git/hooks/pre-commit'],
])('does not write %s', async (_what, path) => {
  const base = temporaryFolder({ 'workspace/a.txt': '', 'outside/there.txt': 'untouched\n' });
  const [root, outside] = [join(base, 'workspace'), join(base, 'outside')];
  symlinkSync(outside, join(root, 'lib'));
  symlinkSync(join(outside, 'there.txt'), join(root, 'notes.txt'));
  symlinkSync(join(outside, 'new.txt'), join(root, 'dangling.txt'));
  await expect(localWorkspace(root).write({ path, content: 'attack\n' }, going)).rejects.toThrow(
    'Give a path inside the workspace',
  );
  expect(readdirSync(outside)).toEqual(['there.txt']);
  expect(readFileSync(join(outside, 'there.txt'), 'utf8')).toBe('untouched\n');
});

test('writes through a link that stays inside, and keeps the link', async () => {
  const root = temporaryFolder({ 'real.txt': 'old\n' });
  symlinkSync('real.txt', join(root, 'link.txt'));
  const workspace = localWorkspace(root);
  const { revision } = await workspace.read('link.txt', going);
  await workspace.write({ path: 'link.txt', content: 'new\n', replaces: revision }, going);
  expect(readFileSync(join(root, 'real.txt'), 'utf8')).toBe('new\n');
});

test('answers the revision of a file, and none for a missing one', async () => {
  const workspace = localWorkspace(temporaryFolder({ 'a.txt': 'x' }));
  expect(await workspace.revision('a.txt', going)).toBe(workspace.revisionOf('x'));
  expect(await workspace.revision('b.txt', going)).toBeUndefined();
});

test('does nothing once it is stopped', async () => {
  const root = temporaryFolder({ 'a.txt': 'x' });
  const workspace = localWorkspace(root);
  await expect(workspace.read('a.txt', stopped)).rejects.toThrow('stopped');
  await expect(workspace.write({ path: 'b.txt', content: 'x' }, stopped)).rejects.toThrow(
    'stopped',
  );
  await expect(workspace.search({ pattern: 'x', syntax: 'literal' }, stopped)).rejects.toThrow(
    'stopped',
  );
  expect(readdirSync(root)).toEqual(['a.txt']);
});

test('searches text files below a folder, in the order of their names', async () => {
  const root = temporaryFolder({
    'b.ts': 'const a = 1;\r\nSLUG();\r\n',
    'a/z.ts': 'slug();\n',
    '.git/config': 'slug\n',
    'node_modules/dep/index.js': 'slug\n',
    'image.png': Uint8Array.of(0, 115, 108, 117, 103),
  });
  mkdirSync(join(root, 'empty'));
  symlinkSync(join(root, 'b.ts'), join(root, 'link.ts'));
  const workspace = localWorkspace(root);
  expect(
    await workspace.search({ pattern: 'slug(', syntax: 'literal', ignoreCase: true }, going),
  ).toEqual({
    matches: [
      { path: 'a/z.ts', line: 1, text: 'slug();' },
      { path: 'b.ts', line: 2, text: 'SLUG();' },
    ],
    filesSearched: 2,
  });
  expect(
    await workspace.search({ pattern: 'slug', syntax: 'literal', folder: 'a' }, going),
  ).toEqual({
    matches: [{ path: 'a/z.ts', line: 1, text: 'slug();' }],
    filesSearched: 1,
  });
});

test('searches by regular expression', async () => {
  const workspace = localWorkspace(temporaryFolder({ 'a.ts': 'foo1\nbar\nFOO22\n' }));
  const found = await workspace.search(
    { pattern: '^foo\\d+$', syntax: 'regex', ignoreCase: true },
    going,
  );
  expect(found.matches.map(({ line }) => line)).toEqual([1, 3]);
  expect((await workspace.search({ pattern: 'foo', syntax: 'regex' }, going)).matches).toHaveLength(
    1,
  );
});

test('ends a regular expression that never would, and keeps the event loop free', async () => {
  const root = temporaryFolder({ 'a.txt': 'fine\n', 'b.txt': `${'a'.repeat(60)}!\n` });
  const workspace = localWorkspace(root, { search: { milliseconds: 300 } });
  let turns = 0;
  const turning = setInterval(() => {
    turns += 1;
  }, 5);
  const found = await workspace.search({ pattern: '^(a+)+$', syntax: 'regex' }, going);
  clearInterval(turning);
  expect(found.stoppedBy).toBe('time');
  expect(turns).toBeGreaterThan(1);
});

test('ends such an expression at once when it is stopped', async () => {
  const root = temporaryFolder({ 'a.txt': `${'a'.repeat(60)}!\n` });
  const workspace = localWorkspace(root, { search: { milliseconds: 600_000 } });
  const controller = new AbortController();
  const searching = workspace.search({ pattern: '^(a+)+$', syntax: 'regex' }, controller);
  setImmediate(() => controller.abort(new Error('stopped')));
  await expect(searching).rejects.toThrow('stopped');
});

test.each([
  ['matches', { matches: 2 }, 2],
  ['output', { outputBytes: 30 }, 2],
  ['files', { files: 1 }, 3],
] as const)('stops at the budget of %s', async (stoppedBy, search, count) => {
  const root = temporaryFolder({ 'a.txt': 'x one\nx two\nx three\n', 'b.txt': 'x\n' });
  const found = await localWorkspace(root, { search }).search(
    { pattern: 'x', syntax: 'literal' },
    going,
  );
  expect(found.stoppedBy).toBe(stoppedBy);
  expect(found.matches).toHaveLength(count);
});

test('stops at the budget of time between files', async () => {
  const root = temporaryFolder({ 'a.txt': 'x\n' });
  const workspace = localWorkspace(root, { search: { milliseconds: -1 } });
  expect(await workspace.search({ pattern: 'x', syntax: 'literal' }, going)).toEqual({
    matches: [],
    filesSearched: 0,
    stoppedBy: 'time',
  });
});

test('shortens long lines and passes over what it may not read', async () => {
  const root = temporaryFolder({
    'a.txt': `x${'y'.repeat(1_000)}\n`,
    'large.txt': 'x'.repeat(5_000),
  });
  writeFileSync(join(root, 'locked.txt'), 'x', { mode: 0o000 });
  const found = await localWorkspace(root, { maxFileBytes: 4_000 }).search(
    { pattern: 'xy', syntax: 'literal' },
    going,
  );
  expect(found.matches[0]?.text).toHaveLength(241);
  expect(found.matches).toHaveLength(1);
});

test.each([
  ['an empty pattern', { pattern: '', syntax: 'literal' }, 'The pattern is empty'],
  ['a broken expression', { pattern: '(a', syntax: 'regex' }, 'is not a regular expression'],
  [
    'a missing folder',
    { pattern: 'x', syntax: 'literal', folder: 'no' },
    'There is no folder "no"',
  ],
  ['a file as folder', { pattern: 'x', syntax: 'literal', folder: 'a.txt' }, 'There is no folder'],
  ['a folder outside', { pattern: 'x', syntax: 'literal', folder: '..' }, 'contains ".."'],
] as const)('does not search for %s', async (_what, query, why) => {
  const workspace = localWorkspace(temporaryFolder({ 'a.txt': 'x' }));
  await expect(workspace.search(query, going)).rejects.toThrow(why);
});
