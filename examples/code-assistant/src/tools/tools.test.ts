import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTool } from '@hexagent/agent-core/testing';
import { expect, test } from 'vitest';
import { going, temporaryFolder } from '../../test/temporary-folder.ts';
import { localGit } from '../adapters/local-git.ts';
import { localShell } from '../adapters/local-shell.ts';
import { localWorkspace } from '../adapters/local-workspace.ts';
import { revisionOf } from '../adapters/text-file.ts';
import { gitApply } from './git-apply.ts';
import { gitDiff } from './git-diff.ts';
import { gitStatus } from './git-status.ts';
import { shellCommand } from './shell-command.ts';
import { workspaceRead } from './workspace-read.ts';
import { workspaceSearch } from './workspace-search.ts';
import { workspaceWrite } from './workspace-write.ts';

const PATCH = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n';

function workspaceOf(files: Readonly<Record<string, string>> = { 'a.txt': 'old\n' }) {
  const root = temporaryFolder(files);
  return { root, deps: { workspace: localWorkspace(root) } };
}

function repository() {
  const root = temporaryFolder({ 'a.txt': 'old\n' });
  execFileSync('git', ['init', '--quiet'], { cwd: root });
  execFileSync('git', ['add', '--all'], { cwd: root });
  return { root, deps: { git: localGit(root) } };
}

type Reconciling = (input: unknown, tool: unknown) => Promise<unknown>;

test('reads and searches', async () => {
  const { deps } = workspaceOf();
  const read = await callTool(workspaceRead, { path: 'a.txt', fromLine: 1 }, { deps });
  expect(read.value).toMatchObject({ text: 'old\n', revision: revisionOf('old\n') });
  const found = await callTool(workspaceSearch, { pattern: 'old', syntax: 'literal' }, { deps });
  expect(found.value).toMatchObject({ matches: [{ path: 'a.txt', line: 1 }] });
});

test('searches literally unless told otherwise', () => {
  expect(workspaceSearch.definition.bindInput({ pattern: 'a' })).toMatchObject({
    ok: true,
    input: { pattern: 'a', syntax: 'literal' },
  });
});

test('writes what was approved', async () => {
  const { root, deps } = workspaceOf();
  const file = { path: 'a.txt', content: 'new\n', replaces: revisionOf('old\n') };
  expect((await callTool(workspaceWrite, file, { deps })).value).toMatchObject({ changed: true });
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new\n');
});

test.each([
  ['has happened', 'new\n', 'committed'],
  ['has not happened', 'old\n', 'not-started'],
  ['cannot be told from a change by others', 'theirs\n', 'unknown'],
])('knows when an interrupted write %s', async (_what, content, kind) => {
  const { deps } = workspaceOf({ 'a.txt': content });
  const reconcile = workspaceWrite.definition.reconcile as Reconciling;
  const input = { path: 'a.txt', content: 'new\n', replaces: revisionOf('old\n') };
  expect(await reconcile(input, { deps, ...going })).toMatchObject({ kind });
});

test('knows that a new file was not written yet', async () => {
  const { deps } = workspaceOf();
  const reconcile = workspaceWrite.definition.reconcile as Reconciling;
  expect(await reconcile({ path: 'new.txt', content: 'x' }, { deps, ...going })).toEqual({
    kind: 'not-started',
  });
});

test('runs a program', async () => {
  const deps = { shell: localShell(temporaryFolder()) };
  const input = { command: process.execPath, args: ['-p', '6 * 7'] };
  const { value } = await callTool(shellCommand, input, { deps });
  expect(value).toMatchObject({ exitCode: 0, stdout: '42\n' });
});

test('shows the state of a repository', async () => {
  const { root, deps } = repository();
  writeFileSync(join(root, 'a.txt'), 'new\n');
  expect((await callTool(gitStatus, {}, { deps })).value).toMatchObject({
    changes: [
      { path: 'a.txt', kind: 'added', staged: true },
      { path: 'a.txt', kind: 'modified', staged: false },
    ],
  });
  const { value } = await callTool(gitDiff, { path: 'a.txt' }, { deps });
  expect(JSON.stringify(value)).toContain('+new');
});

test('applies a patch, and knows afterwards that it did', async () => {
  const { root, deps } = repository();
  const reconcile = gitApply.definition.reconcile as Reconciling;
  const context = { deps, ...going };
  expect(await reconcile({ patch: PATCH }, context)).toEqual({ kind: 'not-started' });
  expect((await callTool(gitApply, { patch: PATCH }, { deps })).value).toMatchObject({
    changed: true,
  });
  expect(await reconcile({ patch: PATCH }, context)).toMatchObject({ kind: 'committed' });
  writeFileSync(join(root, 'a.txt'), 'theirs\n');
  expect(await reconcile({ patch: PATCH }, context)).toEqual({ kind: 'unknown' });
});
