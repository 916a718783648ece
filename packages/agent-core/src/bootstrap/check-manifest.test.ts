import { expect, test } from 'vitest';
import { checkManifest } from './check-manifest.ts';

const good = {
  name: 'files',
  version: '1.0.0',
  contract: 1,
  contributes: ['files'],
  requires: [],
  options: {
    type: 'object',
    properties: { root: { type: 'string' }, depth: { type: 'integer', minimum: 0 } },
    required: ['root'],
  },
};

const linesOf = (manifest: unknown, options?: unknown): readonly string[] =>
  checkManifest(manifest, { at: 'plugins[0]', options }).map(
    ({ at, seen, mend }) => `${at}: ${seen} ${mend}`,
  );

test('finds nothing wrong with a good manifest, with options and without', () => {
  expect(linesOf(good)).toEqual([]);
  expect(linesOf(good, { root: '.', depth: 0 })).toEqual([]);
});

test('refuses what is no manifest', () => {
  for (const manifest of [undefined, null, 'files', []])
    expect(linesOf(manifest)).toEqual([
      'plugins[0]: has no manifest. Make the plugin with definePlugin.',
    ]);
});

test('names every field that is wrong, all at once', () => {
  const bad = {
    name: ' ',
    version: '',
    contract: 2,
    contributes: 'files',
    requires: ['', 3],
    options: 'none',
    colour: 'red',
  };
  expect(linesOf(bad)).toEqual([
    'plugins[0].name: is " ". Give the name of the package.',
    'plugins[0].version: is "". Give the version of the package.',
    'plugins[0].contract: is edition 2; this core knows 1. Install versions of the packages that belong together.',
    'plugins[0].contributes: is "files". List the ids of ports.',
    'plugins[0].requires: is ["",3]. List the ids of ports.',
    'plugins[0].colour: is not a field of a manifest. Known fields: name, version, contract, contributes, requires, options.',
    'plugins[0].options: is "none". Give a JSON Schema of the options.',
  ]);
  expect(linesOf({ ...good, version: 3, contract: undefined })).toEqual([
    'plugins[0] (files).version: is 3. Give the version of the package.',
    expect.stringContaining('plugins[0] (files).contract: is edition undefined;'),
  ]);
  expect(linesOf({ ...good, name: 3 })[0]).toBe(
    'plugins[0].name: is 3. Give the name of the package.',
  );
});

test('refuses a schema of options that the framework cannot check', () => {
  expect(linesOf({ ...good, options: { type: 'object', if: {} } })).toEqual([
    expect.stringMatching(/^plugins\[0\] \(files\)\.options.*if/),
  ]);
});

test('holds options that are data against their schema', () => {
  expect(linesOf(good, {})).toEqual([
    expect.stringMatching(/^plugins\[0\] \(files\)\.options: .*root.*\. Correct the option\.$/),
  ]);
  expect(linesOf(good, { root: 3, depth: -1 })).toHaveLength(2);
  expect(linesOf(good, 'here')).toHaveLength(1);
  expect(
    linesOf({ ...good, options: { type: 'object', additionalProperties: false } }, { x: 1 }),
  ).toEqual([expect.stringContaining('x')]);
});

test('leaves functions and objects with methods to the plugin', () => {
  class Client {
    readonly url = 'x';
  }
  const ours = {
    root: '.',
    fetch: () => undefined,
    client: new Client(),
    nested: { read: () => undefined },
    handlers: [() => undefined],
    missing: undefined,
  };
  expect(linesOf(good, ours)).toEqual([]);
  const closed = { ...good, options: { ...good.options, additionalProperties: false } };
  expect(linesOf(closed, ours)).toEqual([]);
  expect(linesOf(closed, { ...ours, extra: [1, null, { deep: true }] })).toEqual([
    expect.stringContaining('extra'),
  ]);
});

test('checks what the schema names, whatever it is', () => {
  expect(linesOf(good, { root: () => '.' })).toEqual([expect.stringContaining('root')]);
});
