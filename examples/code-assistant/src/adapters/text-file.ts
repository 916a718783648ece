import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

const SNIFFED_BYTES = 8192;

/** Absent on Windows. The real path was just computed, so a link here was put there meanwhile. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export type TextFile =
  | { readonly kind: 'text'; readonly text: string; readonly mode: number }
  | { readonly kind: 'not-a-file' }
  | { readonly kind: 'too-large'; readonly bytes: number }
  | { readonly kind: 'binary' };

/** Reads a whole text file of at most so many bytes; a pipe or device is never waited for. */
export async function readTextFile(
  absolute: string,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<TextFile> {
  signal.throwIfAborted();
  const file = await open(absolute, FLAGS);
  try {
    const { size, mode, ...entry } = await file.stat().then((stat) => ({
      size: stat.size,
      mode: stat.mode,
      isFile: stat.isFile(),
    }));
    if (!entry.isFile) return { kind: 'not-a-file' };
    if (size > maxBytes) return { kind: 'too-large', bytes: size };
    const text = decoded(await file.readFile({ signal }));
    return text === undefined ? { kind: 'binary' } : { kind: 'text', text, mode: mode & 0o777 };
  } finally {
    await file.close();
  }
}

/** Names a content: the first half of its SHA-256, short enough for a model to copy. */
export function revisionOf(content: string): string {
  return createHash('sha256').update(content, 'utf8').digest('hex').slice(0, 32);
}

function decoded(bytes: Uint8Array): string | undefined {
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
