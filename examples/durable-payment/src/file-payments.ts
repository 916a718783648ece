import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Payments } from './payments.ts';

/**
 * Plays a payment service whose books are a folder: one file a payment, named after its key. Creating a
 * file that exists fails, also between processes, so the same key never charges twice.
 */
export function filePayments(folder: string): Payments {
  mkdirSync(folder, { recursive: true });
  const idOf = (key: string): string =>
    `receipt-${createHash('sha256').update(key).digest('hex').slice(0, 12)}`;
  const fileOf = (key: string): string => join(folder, `${idOf(key)}.json`);

  const find: Payments['find'] = async (key) => {
    const text = await readFile(fileOf(key), 'utf8').catch((reason: NodeJS.ErrnoException) => {
      if (reason.code === 'ENOENT') return undefined;
      throw reason;
    });
    return text === undefined ? undefined : { id: idOf(key) };
  };

  return {
    find,
    charge: async (cents, key, signal) => {
      signal.throwIfAborted();
      const file = await open(fileOf(key), 'wx').catch((reason: NodeJS.ErrnoException) => {
        if (reason.code === 'EEXIST') return undefined;
        throw reason;
      });
      if (file === undefined) return { id: idOf(key) };
      try {
        await file.writeFile(`${JSON.stringify({ cents })}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      return { id: idOf(key) };
    },
  };
}
