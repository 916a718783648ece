import { definePort, type Port, type Stop } from '@hexagent/agent-core';

/** A stretch of a text file. */
export type FileText = {
  readonly path: string;
  /** Names exactly this content; `write` wants it back before it replaces the file. */
  readonly revision: string;
  readonly text: string;
  /** From 1; both ends are in `text`. */
  readonly fromLine: number;
  readonly toLine: number;
  readonly totalLines: number;
  /** False when the asked stretch did not fit the output budget. */
  readonly complete: boolean;
};

export type LineRange = { readonly fromLine?: number; readonly toLine?: number };

export type SearchQuery = {
  readonly pattern: string;
  readonly syntax: 'literal' | 'regex';
  readonly ignoreCase?: boolean;
  /** The folder to search; default the whole workspace. */
  readonly folder?: string;
};

export type SearchResult = {
  readonly matches: readonly {
    readonly path: string;
    readonly line: number;
    readonly text: string;
  }[];
  readonly filesSearched: number;
  /** The budget that ended the search early; absent = everything was searched. */
  readonly stoppedBy?: 'matches' | 'output' | 'files' | 'time';
};

export type FileWrite = {
  readonly path: string;
  readonly content: string;
  /** The revision that was read. Absent = the file must not exist yet. */
  readonly replaces?: string;
};

export type WrittenFile = {
  readonly path: string;
  readonly revision: string;
  readonly bytes: number;
  /** False when the file already held exactly this content, so nothing was written. */
  readonly changed: boolean;
};

/** A folder of text files. Every path is relative to it, with `/` between folders, and cannot leave it. */
export interface Workspace {
  read(path: string, options: LineRange & Stop): Promise<FileText>;
  search(query: SearchQuery, stop: Stop): Promise<SearchResult>;
  /** All or nothing. Refused when the file is no longer what `replaces` names. */
  write(file: FileWrite, stop: Stop): Promise<WrittenFile>;
  /** The revision of the file as it is now; undefined when there is none. */
  revision(path: string, stop: Stop): Promise<string | undefined>;
  /** The revision that a file with this content would have. */
  revisionOf(content: string): string;
}

export const Workspace: Port<Workspace> = definePort<Workspace>('workspace');
