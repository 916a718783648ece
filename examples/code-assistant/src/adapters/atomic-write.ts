import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Replaces a file at once: readers see the old content or the new one, also after a crash. The new
 * content is on the disk, in a file beside the old one, before it takes its name.
 *
 * `justBefore` is the last thing that happens before the change; when it throws nothing was changed.
 */
export async function atomicWrite(
  absolute: string,
  {
    content,
    mode,
    justBefore,
  }: {
    readonly content: string;
    readonly mode: number;
    readonly justBefore: () => Promise<void>;
  },
): Promise<void> {
  const name = `.${basename(absolute)}.${randomBytes(6).toString('hex')}.tmp`;
  const temporary = join(dirname(absolute), name);
  const file = await open(temporary, 'wx', mode);
  try {
    try {
      await file.writeFile(content, 'utf8');
      await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await justBefore();
    await rename(temporary, absolute);
  } catch (reason) {
    await rm(temporary, { force: true });
    throw reason;
  }
}
