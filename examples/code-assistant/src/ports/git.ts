import { definePort, type Port, type Stop } from '@hexagent/agent-core';

export type ChangeKind =
  | 'added'
  | 'modified'
  | 'deleted'
  | 'renamed'
  | 'copied'
  | 'type-changed'
  | 'conflicted'
  | 'untracked';

export type Change = {
  readonly path: string;
  readonly kind: ChangeKind;
  /** In the index; a file that is changed again after that is listed twice. */
  readonly staged: boolean;
  /** The old path of a rename or copy. */
  readonly from?: string;
};

export type GitStatus = { readonly branch?: string; readonly changes: readonly Change[] };

export type GitDiff = {
  readonly diff: string;
  /** False when the diff did not fit the output budget. */
  readonly complete: boolean;
};

/** `ambiguous`: the patch fits both ways, so its presence cannot be told. */
export type PatchState = 'applies' | 'applied' | 'ambiguous' | 'conflicts';

export type AppliedPatch = {
  readonly files: readonly string[];
  /** False when the patch was there already, so nothing was done. */
  readonly changed: boolean;
};

/** The repository whose top folder is the workspace. */
export interface Git {
  status(stop: Stop): Promise<GitStatus>;
  diff(options: { readonly staged?: boolean; readonly path?: string } & Stop): Promise<GitDiff>;
  /** Says what applying would do, and does nothing. */
  check(patch: string, stop: Stop): Promise<PatchState>;
  /** Applies a unified diff to the files, after a check; all or nothing. */
  apply(patch: string, stop: Stop): Promise<AppliedPatch>;
}

export const Git: Port<Git> = definePort<Git>('git');
