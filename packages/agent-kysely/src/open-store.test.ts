import { expect, test } from 'vitest';
import { openKyselyStore, openWith } from './open-store.ts';

/** Records what is loaded; has only what is given. */
function modules(installed: Readonly<Record<string, unknown>>) {
  const loaded: string[] = [];
  const load = async (name: string): Promise<unknown> => {
    loaded.push(name);
    if (name in installed) return installed[name];
    throw Object.assign(new Error(`Cannot find package '${name}'`), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
  };
  return { load, loaded };
}

test.each([
  ['file:a.db', 'libsql'],
  ['postgres://me:secret@127.0.0.1:1/db', 'pg'],
])('without its driver %s says how to install %s, and loads no other', async (url, driver) => {
  const { load, loaded } = modules({});
  const error = await openWith({ url }, load).catch((seen: unknown) => seen);
  expect(error).toMatchObject({
    code: 'STORE_DRIVER_MISSING',
    mend: `Install it: npm install ${driver}`,
  });
  expect(String(error)).not.toContain('secret');
  expect(loaded).toEqual([driver]);
});

test('each database loads its own driver only', async () => {
  for (const [url, driver] of [
    ['file::memory:', 'libsql'],
    ['postgres://127.0.0.1:1/db', 'pg'],
  ] as const) {
    const { load, loaded } = modules({ libsql: await import('libsql'), pg: await import('pg') });
    const { close } = await openWith({ url }, load);
    await close();
    expect(loaded).toEqual([driver]);
  }
});

test('wrong options are refused before a driver is loaded', async () => {
  const { load, loaded } = modules({});
  await expect(openWith({ url: 'redis://x' }, load)).rejects.toMatchObject({
    code: 'DEFINITION_INVALID',
  });
  expect(loaded).toEqual([]);
});

test('opens the store of a URL', async () => {
  const { migrator, close } = await openKyselyStore('file::memory:');
  expect(await migrator.pending({ signal: new AbortController().signal })).toEqual([]);
  await close();
});
