import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ask, run, tree, WORKSPACE } from './tree.ts';

const CORE = 'packages/agent-core';
const corePackage = JSON.stringify({
  name: '@hexagent/agent-core',
  exports: {
    '.': { development: './src/index.ts' },
    './testing': { development: './src/testing/index.ts' },
  },
  publishConfig: { exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } } },
});
const adapterPackage = JSON.stringify({ name: '@hexagent/agent-one', exports: {} });

describe('every guard', () => {
  test.each([
    'guards/layers.mjs',
    'guards/cycles.mjs',
    'guards/core-output.mjs',
    'guards/public-names.mjs',
    'guards/manifests.mjs',
    'guards/error-catalog.mjs',
    'guards/contract-map.mjs',
    'guards/sizes.mjs',
    'guards/casts.mjs',
    'guards/coverage-exceptions.mjs',
    'docs/snippets.mjs',
    'docs/shell-snippets.mjs',
  ])('%s says in one line what it holds', (file) => {
    const { code, output } = run(process.execPath, [join(WORKSPACE, 'tools', file), '--help'], {
      cwd: WORKSPACE,
    });
    expect(code).toBe(0);
    expect(output.trim().split('\n')).toHaveLength(1);
  });
});

describe('layers', () => {
  const layers = (files: Readonly<Record<string, string>>) =>
    ask('guards/layers.mjs', tree({ [`${CORE}/package.json`]: corePackage, ...files }));

  test('lets imports point downwards', async () => {
    const { passes, output } = await layers({
      [`${CORE}/src/base/ids.ts`]: 'export type Id = string;',
      [`${CORE}/src/runner/run-loop.ts`]: "import type { Id } from '../base/ids.ts';",
      [`${CORE}/src/index.ts`]: "export type { Id } from './base/ids.ts';",
    });
    expect(output).toBe('');
    expect(passes).toBe(true);
  });

  test.each([
    [
      'an upward import',
      'base/ids.ts',
      "import { run } from '../runner/run-loop.ts';",
      'upwards from runner/',
    ],
    [
      'an upward import of a type',
      'base/ids.ts',
      "import type { Run } from '../runner/run-loop.ts';",
      'upwards from runner/',
    ],
    [
      'an upward import inside a type',
      'base/ids.ts',
      "export type Run = import('../runner/run-loop.ts').Run;",
      'upwards from runner/',
    ],
    [
      'a re-export from above',
      'base/ids.ts',
      "export { run } from '../runner/run-loop.ts';",
      'upwards from runner/',
    ],
    [
      'a sibling import',
      'tools/tool.ts',
      "import { Model } from '../model/agent-model.ts';",
      'sibling model/',
    ],
    [
      'an entry imported from inside',
      'runner/step.ts',
      "import { a } from '../index.ts';",
      'import the file itself',
    ],
    ['a package', 'base/ids.ts', "import { z } from 'zod';", 'no dependency'],
    [
      'a Node built-in',
      'base/ids.ts',
      "import { readFile } from 'node:fs';",
      'not even a Node built-in',
    ],
    ['a folder that is no layer', 'helpers/ids.ts', 'export const a = 1;', 'stands in no layer'],
  ])('refuses %s', async (_, file, text, said) => {
    const { passes, output } = await layers({ [`${CORE}/src/${file}`]: text });
    expect(passes).toBe(false);
    expect(output).toContain(said);
  });

  test.each([
    ['another adapter', "import { two } from '@hexagent/agent-two';", 'adapters meet in bootstrap'],
    ['an inner file of core', "import { a } from '@hexagent/agent-core/base/ids';", 'are public'],
    [
      'a file outside its package',
      "import { a } from '../../agent-core/src/index.ts';",
      'outside its own package',
    ],
  ])('refuses an adapter that imports %s', async (_, text, said) => {
    const { passes, output } = await layers({
      'packages/agent-one/package.json': adapterPackage,
      'packages/agent-one/src/index.ts': text,
    });
    expect(passes).toBe(false);
    expect(output).toContain(said);
  });
});

describe('cycles', () => {
  test('refuses two files that import each other, type-only too', async () => {
    const { passes, output } = await ask(
      'guards/cycles.mjs',
      tree({
        [`${CORE}/package.json`]: corePackage,
        [`${CORE}/src/base/one.ts`]: "import { two } from './two.ts';",
        [`${CORE}/src/base/two.ts`]: "import type { One } from './one.ts';",
      }),
    );
    expect(passes).toBe(false);
    expect(output).toContain(
      'one.ts → packages/agent-core/src/base/two.ts → packages/agent-core/src/base/one.ts',
    );
  });
});

describe('core output', () => {
  const output = (files: Readonly<Record<string, string>>) =>
    ask('guards/core-output.mjs', tree({ [`${CORE}/package.json`]: corePackage, ...files }));

  test('follows the built chunks and their declarations', async () => {
    const ran = await output({
      [`${CORE}/dist/index.js`]: "export * from './base/ids.js';",
      [`${CORE}/dist/index.d.ts`]: "export * from './base/ids.ts';",
      [`${CORE}/dist/base/ids.js`]: 'export const a = 1;',
      [`${CORE}/dist/base/ids.d.ts`]: 'export declare const a = 1;',
    });
    expect(ran.output).toContain('4 built files');
    expect(ran.passes).toBe(true);
  });

  test('refuses a package or a Node built-in in a chunk that an entry reaches', async () => {
    const ran = await output({
      [`${CORE}/dist/index.js`]: "export * from './base/ids.js';",
      [`${CORE}/dist/index.d.ts`]: "import type { Buffer } from 'node:buffer';",
      [`${CORE}/dist/base/ids.js`]: "import { randomUUID } from 'node:crypto';",
    });
    expect(ran.passes).toBe(false);
    expect(ran.output).toContain('base/ids.js:1 imports "node:crypto"');
    expect(ran.output).toContain('index.d.ts:1 imports "node:buffer"');
  });

  test('does not pass what is not built', async () => {
    expect((await output({})).passes).toBe(false);
  });
});

describe('public names', () => {
  const files = {
    [`${CORE}/package.json`]: corePackage,
    [`${CORE}/src/index.ts`]: "export { a, type B } from './base/ids.ts';",
    [`${CORE}/src/testing/index.ts`]: "export type { C } from '../base/ids.ts';",
  };

  test('passes when each entry exports what its list says, and writes the lists on request', async () => {
    const root = tree(files);
    expect((await ask('guards/public-names.mjs', root)).passes).toBe(false);
    await ask('guards/public-names.mjs', root, '--update');
    expect(readFileSync(join(root, 'docs/public-names/agent-core.txt'), 'utf8')).toBe(
      'a\ntype B\n',
    );
    expect(readFileSync(join(root, 'docs/public-names/agent-core.testing.txt'), 'utf8')).toBe(
      'type C\n',
    );
    expect((await ask('guards/public-names.mjs', root)).passes).toBe(true);
  });

  test('refuses a name that is new and one that is gone', async () => {
    const { passes, output } = await ask(
      'guards/public-names.mjs',
      tree({
        ...files,
        'docs/public-names/agent-core.txt': 'a\ntype Gone\n',
        'docs/public-names/agent-core.testing.txt': 'type C\n',
      }),
    );
    expect(passes).toBe(false);
    expect(output).toContain('exports "type B"');
    expect(output).toContain('lists "type Gone"');
  });

  test.each([
    ["export * from './base/ids.ts';", 'exports everything'],
    ['export default 1;', 'default export'],
    ['export const a = 1;', 'declares what it exports'],
  ])('refuses `%s` in an entry', async (text, said) => {
    const { passes, output } = await ask(
      'guards/public-names.mjs',
      tree({ ...files, [`${CORE}/src/index.ts`]: text }),
    );
    expect(passes).toBe(false);
    expect(output).toContain(said);
  });
});

describe('manifests', () => {
  const plugin = (manifest: Readonly<Record<string, unknown>>) =>
    `export const one = Object.assign(() => {}, { manifest: ${JSON.stringify(manifest)} });`;
  const manifest = {
    name: '@hexagent/agent-one',
    version: '0.1.0',
    contract: 1,
    contributes: ['model'],
    requires: [],
    options: { type: 'object' },
  };
  const manifests = (packageJson: Readonly<Record<string, unknown>>, code: string) =>
    ask(
      'guards/manifests.mjs',
      tree({
        'packages/agent-one/package.json': JSON.stringify({
          name: '@hexagent/agent-one',
          version: '0.1.0',
          type: 'module',
          ...packageJson,
        }),
        'packages/agent-one/dist/index.js': code,
      }),
    );
  const field = { hexagent: { plugin: './dist/index.js#one' } };

  test('passes a plugin whose manifest fits its package', async () => {
    const { passes, output } = await manifests(field, plugin(manifest));
    expect(output).toContain('1 manifests');
    expect(passes).toBe(true);
  });

  test.each([
    ['no hexagent field', {}, plugin(manifest), 'has no "hexagent"'],
    [
      'a field that names no export',
      { hexagent: { plugin: './dist/index.js#two' } },
      plugin(manifest),
      'exports no plugin "two"',
    ],
    [
      'a module that does not load',
      field,
      "throw new Error('broken at import');",
      'broken at import',
    ],
    [
      'another name',
      field,
      plugin({ ...manifest, name: '@hexagent/agent-two' }),
      'name is "@hexagent/agent-two"',
    ],
    ['another version', field, plugin({ ...manifest, version: '0.0.9' }), 'version is "0.0.9"'],
    ['another edition', field, plugin({ ...manifest, contract: 2 }), 'contract is edition 2'],
    [
      'ports that are no ids',
      field,
      plugin({ ...manifest, contributes: [1] }),
      'contributes is [1]',
    ],
    ['options that are no schema', field, plugin({ ...manifest, options: undefined }), 'options'],
  ])('refuses %s', async (_, packageJson, text, said) => {
    const { passes, output } = await manifests(packageJson, text);
    expect(passes).toBe(false);
    expect(output).toContain(said);
  });
});

describe('error catalogue', () => {
  const page = (...codes: readonly string[]) =>
    `| code | when | what to do |\n|---|---|---|\n${codes.map((code) => `| \`${code}\` | when | mend |\n`).join('')}`;
  const catalog = (files: Readonly<Record<string, string>>) =>
    ask(
      'guards/error-catalog.mjs',
      tree({
        [`${CORE}/src/base/error-catalog.ts`]:
          "export const ERROR_CODES = ['ONE', 'TWO'] as const;\nexport const one = () => fail('ONE');",
        [`${CORE}/src/runner/step.ts`]: "fail('TWO');",
        'docs/errors.md': page('ONE', 'TWO'),
        ...files,
      }),
    );

  test('passes when list, page and use agree', async () => {
    const { passes, output } = await catalog({});
    expect(output).toContain('2 codes');
    expect(passes).toBe(true);
  });

  test.each([
    ['a code without a row', { 'docs/errors.md': page('ONE') }, 'TWO has no row'],
    ['a row without a code', { 'docs/errors.md': page('ONE', 'TWO', 'THREE') }, 'a row for THREE'],
    ['another order', { 'docs/errors.md': page('TWO', 'ONE') }, 'another order'],
    [
      'a row that says nothing',
      { 'docs/errors.md': '| `ONE` | when | |\n| `TWO` | when | mend |' },
      'the row of ONE',
    ],
    ['a code that nothing uses', { [`${CORE}/src/runner/step.ts`]: '' }, 'TWO is used nowhere'],
  ])('refuses %s', async (_, files, said) => {
    const { passes, output } = await catalog(files);
    expect(passes).toBe(false);
    expect(output).toContain(said);
  });
});

describe('contract map', () => {
  const map = (...rows: readonly string[]) =>
    ask(
      'guards/contract-map.mjs',
      tree({
        [`${CORE}/src/tools/tool.ts`]: 'export type Tool = string;',
        'docs/contract-map.md': `| contract | here | note |\n|---|---|---|\n${rows.join('\n')}\n`,
      }),
    );

  test('passes a place that exists and a reason', async () => {
    const { passes, output } = await map(
      '| `AgentTool` | `tools/tool.ts#Tool` | |',
      '| `ContextPack` | later: context issue | |',
      '| `Pod` | no: TypeScript has no container scan | |',
    );
    expect(output).toContain('3 rows');
    expect(passes).toBe(true);
  });

  test.each([
    ['| `A` | `tools/gone.ts#Tool` | |', 'does not exist'],
    ['| `A` | `tools/tool.ts#Gone` | |', 'has no "Gone"'],
    ['| `A` | somewhere | |', 'no place and no reason'],
    ['| `A` | later: | |', 'without a reason'],
  ])('refuses %s', async (row, said) => {
    const { passes, output } = await map(row);
    expect(passes).toBe(false);
    expect(output).toContain(said);
  });
});

describe('casts', () => {
  test('fails on any, and only reports casts', async () => {
    const cast = await ask(
      'guards/casts.mjs',
      tree({ 'packages/a/src/x.ts': 'export const a = {} as A;' }),
    );
    expect(cast.passes).toBe(true);
    expect(cast.output).toContain('1 casts outside wire/');
    const loose = await ask(
      'guards/casts.mjs',
      tree({ 'packages/a/src/x.ts': 'export const a: any = 1;' }),
    );
    expect(loose.passes).toBe(false);
    expect(loose.output).toContain('x.ts:1 says any');
  });
});

describe('coverage exceptions', () => {
  test('lists each with its reason, and refuses one without', async () => {
    const source = (comment: string) =>
      ask(
        'guards/coverage-exceptions.mjs',
        tree({ 'packages/a/src/x.ts': `${comment}\nexport {};\n` }),
      );
    const told = await source('/* v8 ignore next -- only an older Node gets here @preserve */');
    expect(told.passes).toBe(true);
    expect(told.output).toContain('x.ts:1: only an older Node gets here');
    const silent = await source('/* v8 ignore next */');
    expect(silent.passes).toBe(false);
    expect(silent.output).toContain('does not say why');
  });
});

describe('sizes', () => {
  test('asks about a long file and fails nothing', async () => {
    const { passes, output } = await ask(
      'guards/sizes.mjs',
      tree({ 'packages/a/src/long.ts': 'export {};\n'.repeat(301) }),
    );
    expect(passes).toBe(true);
    expect(output).toContain('301  packages/a/src/long.ts  does a second noun live here?');
  });
});
