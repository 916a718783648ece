import { expect, test } from 'vitest';
import { sqliteConnection } from './connection.ts';
import type { LibsqlDatabase } from './libsql.ts';

const PLACE = { name: 'the SQLite file "a.db"', check: 'Check the file.' };
const stop = new AbortController().signal;

type Failure = { readonly on: string; readonly error: Error; times: number };

function coded(code: string, message = code): Error {
  return Object.assign(new Error(message), { code });
}

/** A database that fails on one statement. */
function database(failure: Failure): {
  readonly open: () => LibsqlDatabase;
  readonly ran: string[];
} {
  const ran: string[] = [];
  const meet = (sql: string): void => {
    ran.push(sql);
    if (sql.startsWith(failure.on) && failure.times > 0) {
      failure.times -= 1;
      throw failure.error;
    }
  };
  const open = (): LibsqlDatabase => ({
    prepare: (sql) => ({
      reader: true,
      all: () => {
        meet(sql);
        return [];
      },
      run: () => {
        meet(sql);
        return { changes: 1, lastInsertRowid: 1 };
      },
      iterate: () => [][Symbol.iterator](),
    }),
    exec: meet,
    close: () => {
      ran.push('close');
    },
  });
  return { open, ran };
}

test.each([
  ['SQLITE_FULL', /make room/],
  ['SQLITE_READONLY', /writable/],
  ['SQLITE_CORRUPT', /backup/],
  ['SQLITE_IOERR', /disk/],
  ['SQLITE_OTHER', /Check the file/],
])('a write that fails with %s is undone and says what to do', async (code, mend) => {
  const { open, ran } = database({ on: 'insert', error: coded(code), times: 1 });
  const connection = await sqliteConnection(open, PLACE);
  await expect(connection.write(() => connection.run('insert', []), stop)).rejects.toMatchObject({
    code: 'STORE_FAILED',
    retryable: false,
    message: expect.stringContaining(code),
    mend: expect.stringMatching(mend),
  });
  expect(ran.slice(-3)).toEqual(['begin immediate', 'insert', 'rollback']);
});

test('a rollback that fails hides nothing', async () => {
  const failure = { on: 'rollback', error: coded('SQLITE_ERROR', 'no transaction'), times: 1 };
  const connection = await sqliteConnection(database(failure).open, PLACE);
  const work = connection.write(() => {
    throw new Error('the reason');
  }, stop);
  await expect(work).rejects.toThrow('the reason');
});

test('what meets a lock is run again, whole', async () => {
  const { open, ran } = database({ on: 'commit', error: coded('SQLITE_BUSY'), times: 2 });
  const connection = await sqliteConnection(open, PLACE);
  await connection.write(() => connection.run('insert', []), stop);
  expect(ran.filter((sql) => sql === 'insert')).toHaveLength(3);
});

test('a file that cannot be prepared is closed again', async () => {
  const failure = { on: 'pragma', error: coded('SQLITE_NOTADB'), times: 1 };
  const { open, ran } = database(failure);
  await expect(sqliteConnection(open, PLACE)).rejects.toMatchObject({ code: 'STORE_FAILED' });
  expect(ran.at(-1)).toBe('close');
});

test('a file that cannot be opened says so, also when the driver throws no Error', async () => {
  const open = (): LibsqlDatabase => {
    throw 'Unable to open';
  };
  await expect(sqliteConnection(open, PLACE)).rejects.toThrow(/Unable to open/);
});
