import { expect, test } from 'vitest';
import type { Plugin } from './plugin.ts';
import { isListPort, orderPlugins } from './plugin-order.ts';

function plugin(name: string, contributes: readonly string[], requires: readonly string[]): Plugin {
  return {
    manifest: { name, version: '1', contract: 1, contributes, requires, options: {} },
    options: {},
    setup: () => [],
  };
}

function orderOf(plugins: readonly Plugin[], provided: readonly string[] = []): readonly string[] {
  const order = orderPlugins(plugins, new Set(provided));
  return order.ok
    ? order.plugins.map(({ manifest }) => manifest.name)
    : order.problems.map(({ at, seen, mend }) => `${at}: ${seen} ${mend}`);
}

test('keeps the order in which they were given when nobody needs another', () => {
  expect(orderOf([plugin('b', ['b'], []), plugin('a', ['a'], []), plugin('c', [], [])])).toEqual([
    'b',
    'a',
    'c',
  ]);
});

test('sets up who requires a port after everyone who contributes it', () => {
  const host = plugin('host', [], ['http-mount', 'auth']);
  const mounts = [plugin('api', ['http-mount'], ['store']), plugin('a2a', ['http-mount'], [])];
  const order = orderOf([
    host,
    ...mounts,
    plugin('auth', ['auth'], []),
    plugin('db', ['store'], []),
  ]);
  expect(order).toEqual(['a2a', 'auth', 'db', 'api', 'host']);
});

test('takes what the application itself provides, and what is a list, as there', () => {
  expect(
    orderOf([plugin('a', [], ['clock', 'http-mount', 'tool-source', 'migrator'])], ['clock']),
  ).toEqual(['a']);
  expect(['http-mount', 'tool-source', 'migrator', 'model'].map(isListPort)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test('lets a plugin build on the port that it contributes itself', () => {
  expect(orderOf([plugin('cache', ['store'], ['store'])])).toEqual(['cache']);
});

test('names every port that nobody gives, and every circle, at once', () => {
  const plugins = [
    plugin('a', ['a'], ['b', 'x']),
    plugin('b', ['b'], ['a']),
    plugin('c', [], ['y']),
    plugin('d', [], ['a']),
  ];
  expect(orderOf(plugins)).toEqual([
    'plugins[0] (a): requires "x", which nothing contributes. Add a plugin that contributes "x", or provide: [bind(…)].',
    'plugins[2] (c): requires "y", which nothing contributes. Add a plugin that contributes "y", or provide: [bind(…)].',
    expect.stringMatching(/^plugins: wait for each other: a → b → d\. Break the circle/),
  ]);
});
