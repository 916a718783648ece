import { realpathSync, statSync } from 'node:fs';
import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FileText, FileWrite, LineRange, Workspace, WrittenFile } from '../ports/workspace.ts';
import { atomicWrite } from './atomic-write.ts';
import { type ConfinedPath, confinedPath } from './confined-path.ts';
import { type SearchBudget, searchFiles } from './search-files.ts';
import { readTextFile, revisionOf } from './text-file.ts';

export type LocalWorkspaceOptions = {
  /** The largest file that is read or written. Default 1 MiB. */
  readonly maxFileBytes?: number;
  /** The most text that one `read` answers. Default 48 KiB, below what a tool result may hold. */
  readonly maxReadBytes?: number;
  readonly search?: Partial<SearchBudget>;
  /** A file, outside the workspace, that gets one line for each change made on the disk. */
  readonly writeLog?: string;
};

const NEW_FILE_MODE = 0o644;

/**
 * A workspace on the local disk, confined to a folder.
 *
 * It guards against what a model may ask for. It is no sandbox against another program of the same
 * user that swaps folders for links at the very moment of a write.
 */
export function localWorkspace(root: string, options: LocalWorkspaceOptions = {}): Workspace {
  const { maxFileBytes = 1_048_576, maxReadBytes = 49_152, writeLog } = options;
  const top = realFolder(root);
  const budget: SearchBudget = {
    matches: 100,
    outputBytes: 32_768,
    files: 5_000,
    milliseconds: 3_000,
    fileBytes: maxFileBytes,
    ...options.search,
  };

  const textAt = async (place: ConfinedPath, signal: AbortSignal): Promise<Found | undefined> => {
    if (!place.exists) return undefined;
    const file = await readTextFile(place.absolute, { maxBytes: maxFileBytes, signal });
    switch (file.kind) {
      case 'text':
        return { text: file.text, mode: file.mode, revision: revisionOf(file.text) };
      case 'not-a-file':
        throw new Error(
          `"${place.path}" is not a file. Search it as a folder, or name a file in it.`,
        );
      case 'binary':
        throw new Error(
          `"${place.path}" is a binary file; only UTF-8 text can be read or replaced.`,
        );
      case 'too-large':
        throw new Error(
          `"${place.path}" has ${file.bytes} bytes; the limit is ${maxFileBytes}. Search it for what you need.`,
        );
    }
  };

  return {
    revisionOf,

    revision: async (path, { signal }) =>
      (await textAt(await confinedPath(top, path), signal))?.revision,

    read: async (path, { signal, ...range }) => {
      const place = await confinedPath(top, path);
      const found = await textAt(place, signal);
      if (found === undefined) {
        throw new Error(
          `There is no file "${place.path}". Search the workspace for its name or content.`,
        );
      }
      return stretch({ path: place.path, ...found }, { ...range, maxBytes: maxReadBytes });
    },

    search: async (query, { signal }) => {
      const folder = await confinedPath(top, query.folder ?? '.');
      if (!folder.exists || !statSync(folder.absolute).isDirectory()) {
        throw new Error(`There is no folder "${folder.path}". Leave it out to search everything.`);
      }
      return searchFiles(query, { root: top, folder: folder.absolute, budget, signal });
    },

    write: async (file, { signal }) => {
      const bytes = assertWritable(file, maxFileBytes);
      const revision = revisionOf(file.content);
      const place = await confinedPath(top, file.path);
      const before = await textAt(place, signal);
      const written = (changed: boolean): WrittenFile => ({
        path: place.path,
        revision,
        bytes,
        changed,
      });
      if (before?.revision === revision) return written(false);
      assertCurrent(file, before?.revision);

      signal.throwIfAborted();
      await mkdir(dirname(place.absolute), { recursive: true });
      await atomicWrite(place.absolute, {
        content: file.content,
        mode: before?.mode ?? NEW_FILE_MODE,
        // What was checked before the new content was on the disk must hold when it takes its name.
        justBefore: async () => {
          const again = await confinedPath(top, file.path);
          if (again.absolute !== place.absolute) throw movedAway(file.path);
          assertCurrent(file, (await textAt(again, signal))?.revision);
          signal.throwIfAborted();
        },
      });
      if (writeLog !== undefined) {
        await appendFile(writeLog, `${JSON.stringify({ path: place.path, revision, bytes })}\n`);
      }
      return written(true);
    },
  };
}

type Found = { readonly text: string; readonly mode: number; readonly revision: string };

function realFolder(root: string): string {
  const top = realpathSync(root);
  if (!statSync(top).isDirectory()) {
    throw new Error(
      `The workspace "${root}" is not a folder. Give the folder that the agent may work in.`,
    );
  }
  return top;
}

function assertWritable({ path, content }: FileWrite, maxBytes: number): number {
  const bytes = Buffer.byteLength(content);
  if (bytes > maxBytes) {
    throw new Error(
      `The content for "${path}" has ${bytes} bytes; the limit is ${maxBytes}. Split the file.`,
    );
  }
  if (content.includes('\0') || Buffer.from(content).toString() !== content) {
    throw new Error(
      `The content for "${path}" is not text: it holds NUL or half a surrogate pair.`,
    );
  }
  return bytes;
}

function assertCurrent({ path, replaces }: FileWrite, current: string | undefined): void {
  if (current === replaces) return;
  if (current === undefined) {
    throw new Error(`"${path}" does not exist any more. Leave "replaces" out to create it.`);
  }
  if (replaces === undefined) {
    throw new Error(
      `"${path}" exists already. Read it, then write with its revision in "replaces".`,
    );
  }
  throw new Error(
    `"${path}" is not what you read: its revision is ${current}, not ${replaces}. Read it again before you write.`,
  );
}

function movedAway(path: string): Error {
  return new Error(`"${path}" led somewhere else a moment ago, so nothing was written. Try again.`);
}

function stretch(
  { path, revision, text }: Found & { readonly path: string },
  { fromLine = 1, toLine, maxBytes }: LineRange & { readonly maxBytes: number },
): FileText {
  const lines = text === '' ? [] : text.split(/(?<=\n)/);
  const first = Math.max(1, fromLine);
  const last = Math.min(lines.length, toLine ?? lines.length);
  let end = first - 1;
  let size = 0;
  while (end < last) {
    size += Buffer.byteLength(lines[end] ?? '');
    if (size > maxBytes) break;
    end += 1;
  }
  // A single line above the budget is cut inside, so that something can be read at all.
  const cut = end === first - 1 && first <= last;
  const shown = cut
    ? (lines[end] ?? '').slice(0, maxBytes / 4)
    : lines.slice(first - 1, end).join('');
  return {
    path,
    revision,
    text: shown,
    fromLine: first,
    toLine: cut ? first : end,
    totalLines: lines.length,
    complete: !cut && end >= last,
  };
}
