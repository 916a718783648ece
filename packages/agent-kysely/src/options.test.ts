import { isAbsolute } from 'node:path';
import { expect, test } from 'vitest';
import { OPTIONS_SCHEMA, targetOf, withoutPassword } from './options.ts';

test('a file is SQLite, migrated when it is opened', () => {
  const target = targetOf({ url: 'file:a.db' });
  expect(target).toMatchObject({ kind: 'sqlite', prefix: 'hexagent_', migrate: 'auto' });
  expect(target.kind === 'sqlite' && isAbsolute(target.path)).toBe(true);
  expect(targetOf({ url: 'file::memory:' })).toMatchObject({ path: ':memory:' });
  expect(targetOf({ url: 'file:///data/a%20b.db' })).toMatchObject({ path: '/data/a b.db' });
  expect(targetOf({ url: 'file:/data/a.db', migrate: 'never', tablePrefix: 'x_' })).toMatchObject({
    path: '/data/a.db',
    migrate: 'never',
    prefix: 'x_',
  });
});

test('PostgreSQL has its own defaults, and every option can be set', () => {
  expect(targetOf({ url: 'postgres://localhost/app' })).toMatchObject({
    kind: 'postgres',
    poolSize: 10,
    schema: undefined,
    isNamed: true,
    isNotifying: true,
    migrate: 'never',
    liveFlushMs: 1000,
  });
  const url = 'postgresql://user:password@localhost/app';
  expect(
    targetOf({
      url,
      poolSize: 3,
      schema: 'agents',
      statements: 'unnamed',
      notify: false,
      migrate: 'auto',
      liveFlushMs: 50,
    }),
  ).toMatchObject({
    url,
    poolSize: 3,
    schema: 'agents',
    isNamed: false,
    isNotifying: false,
    migrate: 'auto',
    liveFlushMs: 50,
  });
});

const WRONG: readonly (readonly [unknown, string])[] = [
  [undefined, 'options'],
  ['file:a.db', 'options'],
  [{}, 'url'],
  [{ url: 7 }, 'url'],
  [{ url: 'file:' }, 'url'],
  [{ url: 'mysql://localhost' }, 'url'],
  [{ url: 'postgres://[' }, 'url'],
  [{ url: 'file:a.db', path: 'a.db' }, 'path'],
  [{ url: 'file:a.db', poolSize: 2 }, 'poolSize'],
  [{ url: 'file:a.db', notify: true }, 'notify'],
  [{ url: 'postgres://localhost/a', poolSize: 0 }, 'poolSize'],
  [{ url: 'postgres://localhost/a', schema: 'a"b' }, 'schema'],
  [{ url: 'file:a.db', tablePrefix: '1x' }, 'tablePrefix'],
  [{ url: 'file:a.db', liveFlushMs: 1.5 }, 'liveFlushMs'],
  [{ url: 'file:a.db', migrate: true }, 'migrate'],
  [{ url: 'postgres://localhost/a', statements: 'prepared' }, 'statements'],
  [{ url: 'postgres://localhost/a', notify: 'yes' }, 'notify'],
];

test.each(WRONG)('refuses %j and names "%s"', (options, at) => {
  expect(() => targetOf(options)).toThrow(
    expect.objectContaining({ code: 'DEFINITION_INVALID', message: expect.stringContaining(at) }),
  );
});

test('reports all problems at once, and no password', () => {
  const options = { url: 'mysql://me:secret@host/db', poolSize: 'many', colour: 'red' };
  const seen = expect.objectContaining({
    message: expect.stringMatching(/3 problems.*"mysql:\/\/host\/db".*poolSize.*colour/s),
  });
  expect(() => targetOf(options)).toThrow(seen);
});

test('an option that is undefined is not there', () => {
  expect(targetOf({ url: 'file::memory:', migrate: undefined })).toMatchObject({ migrate: 'auto' });
});

test('a URL is shown without its password', () => {
  expect(withoutPassword('postgres://me:secret@host:1/db?password=x&a=b')).toBe(
    'postgres://host:1/db&a=b',
  );
  expect(withoutPassword('file:a@b.db')).toBe('file:a@b.db');
});

test('the manifest shows the same options', () => {
  expect(OPTIONS_SCHEMA).toMatchObject({ required: ['url'], additionalProperties: false });
});
