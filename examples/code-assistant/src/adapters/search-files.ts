import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { SearchQuery, SearchResult } from '../ports/workspace.ts';
import { lineMatcher } from './line-matcher.ts';
import { readTextFile } from './text-file.ts';

export type SearchBudget = {
  readonly matches: number;
  /** Bytes of paths and lines together. */
  readonly outputBytes: number;
  readonly files: number;
  readonly milliseconds: number;
  /** A larger file is passed over. */
  readonly fileBytes: number;
};

const SKIPPED: readonly string[] = ['.git', 'node_modules', '.hexagent'];
const MAX_LINE = 240;

/** Searches the text files below a folder, in the order of their names; links are not followed. */
export async function searchFiles(
  query: SearchQuery,
  {
    root,
    folder,
    budget,
    signal,
  }: {
    readonly root: string;
    readonly folder: string;
    readonly budget: SearchBudget;
    readonly signal: AbortSignal;
  },
): Promise<SearchResult> {
  const untilMs = performance.now() + budget.milliseconds;
  const matcher = lineMatcher(query);
  const matches: { path: string; line: number; text: string }[] = [];
  let filesSearched = 0;
  let outputBytes = 0;
  const stopped = (stoppedBy: SearchResult['stoppedBy']): SearchResult =>
    stoppedBy === undefined ? { matches, filesSearched } : { matches, filesSearched, stoppedBy };
  try {
    for await (const absolute of filesBelow(folder, signal)) {
      if (performance.now() > untilMs) return stopped('time');
      if (filesSearched === budget.files) return stopped('files');
      const file = await readTextFile(absolute, { maxBytes: budget.fileBytes, signal }).catch(
        passedOver(signal),
      );
      if (file?.kind !== 'text') continue;
      filesSearched += 1;
      const lines = file.text.split(/\r?\n/);
      const found = await matcher.lines(lines, { untilMs, signal });
      if (found === undefined) return stopped('time');
      const path = relative(root, absolute).split(sep).join('/');
      for (const index of found) {
        if (matches.length === budget.matches) return stopped('matches');
        const text = shortened(lines[index] ?? '');
        outputBytes += Buffer.byteLength(path) + Buffer.byteLength(text);
        if (outputBytes > budget.outputBytes) return stopped('output');
        matches.push({ path, line: index + 1, text });
      }
    }
    return stopped(undefined);
  } finally {
    await matcher.close();
  }
}

async function* filesBelow(folder: string, signal: AbortSignal): AsyncGenerator<string> {
  signal.throwIfAborted();
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
    if (SKIPPED.includes(entry.name.toLowerCase())) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path, signal);
    else if (entry.isFile()) yield path;
  }
}

/** A file that vanished or may not be read is no reason to fail a search; a stop is. */
function passedOver(signal: AbortSignal): () => undefined {
  return () => {
    signal.throwIfAborted();
    return undefined;
  };
}

function shortened(line: string): string {
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
}
