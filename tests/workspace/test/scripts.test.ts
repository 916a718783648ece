import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WORKSPACE } from './tree.ts';

const manifest: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(WORKSPACE, 'package.json'), 'utf8'),
);

const scriptsOf = (folder: string): Readonly<Record<string, string>> => {
  const path = join(WORKSPACE, folder, 'package.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).scripts : {};
};

test.each(Object.entries(manifest.scripts))('npm run %s names what exists', (_, command) => {
  for (const [, file] of command.matchAll(/\bnode (?!node_modules)(\S+\.mjs)/g)) {
    expect(existsSync(join(WORKSPACE, file ?? '')), file).toBe(true);
  }
  for (const [, folder = '', script = ''] of command.matchAll(/--prefix (\S+) (\S+)/g)) {
    expect(Object.keys(scriptsOf(folder)), `the scripts of ${folder}`).toContain(script);
  }
  for (const [, name = '', script = 'start'] of command.matchAll(
    /tools\/example\.mjs (\S+)(?: (\S+))?/g,
  )) {
    expect(Object.keys(scriptsOf(`examples/${name}`)), `the scripts of ${name}`).toContain(script);
  }
});
