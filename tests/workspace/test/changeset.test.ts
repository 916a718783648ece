import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, scratch, WORKSPACE } from './tree.ts';

const read = (path: string): Record<string, unknown> => JSON.parse(readFileSync(path, 'utf8'));

/** The manifests of the workspace, with one changeset and nothing else that would move a version. */
function copyOfManifests(changeset: string): string {
  const root = scratch();
  const copy = (path: string) =>
    cpSync(join(WORKSPACE, path), join(root, path), { recursive: true });
  copy('package.json');
  copy('pnpm-workspace.yaml');
  copy('.changeset/config.json');
  for (const folder of ['packages', 'examples', 'tests']) {
    for (const name of readdirSync(join(WORKSPACE, folder))) {
      try {
        copy(`${folder}/${name}/package.json`);
      } catch {
        // a folder that is no package has no version
      }
    }
  }
  copy('docs/package.json');
  symlinkSync(join(WORKSPACE, 'node_modules'), join(root, 'node_modules'));
  mkdirSync(join(root, '.changeset'), { recursive: true });
  writeFileSync(join(root, '.changeset/one-change.md'), changeset);
  return root;
}

test('a minor change of core gives every package 0.2.0 and leaves the peers as they are', () => {
  const root = copyOfManifests("---\n'@hexagent/agent-core': minor\n---\n\nSomething new.\n");
  const git = (...args: readonly string[]) =>
    run('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], { cwd: root });
  git('init', '-q', '-b', 'main');
  writeFileSync(join(root, '.gitignore'), 'node_modules\n');
  git('add', '-A');
  git('commit', '-q', '-m', 'copy');

  const bin = join(WORKSPACE, 'node_modules/@changesets/cli/bin.js');
  const { code, output } = run(process.execPath, [bin, 'version'], { cwd: root });
  expect(output).toContain('have been updated');
  expect(code).toBe(0);

  for (const name of readdirSync(join(root, 'packages'))) {
    const manifest = read(join(root, 'packages', name, 'package.json'));
    expect([name, manifest.version]).toEqual([name, '0.2.0']);
    if (name !== 'agent-core') {
      expect([name, manifest.peerDependencies]).toEqual([
        name,
        expect.objectContaining({ '@hexagent/agent-core': '>=0.1.0 <1.0.0' }),
      ]);
    }
  }
});
