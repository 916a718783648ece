import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { JsonObject } from '@hexagent/agent-core';
import { unifiedDiff } from './diff.ts';

/** A larger file is not read only to show what would change in it. */
const MAX_BYTES = 1_000_000;

/** Arguments that would write a file: a path and the whole content. */
export type FileProposal = {
  readonly path: string;
  readonly content: string;
};

export function fileProposalOf(input: JsonObject | undefined): FileProposal | undefined {
  const path = input?.['path'];
  const content = input?.['content'];
  return typeof path === 'string' && typeof content === 'string' ? { path, content } : undefined;
}

/**
 * A unified diff against the file as it is now; a path is taken from the folder of the command. Where
 * there is nothing to compare with, the whole content is shown: nobody approves what was not seen.
 */
export async function diffOf(
  { path, content }: FileProposal,
  { cwd }: { readonly cwd: string },
): Promise<readonly string[]> {
  const current = await currentContent(resolve(cwd, path));
  const lines = unifiedDiff(current.kind === 'file' ? current.text : '', content);
  if (lines.length === 0) {
    return [current.kind === 'file' ? `(${path} would not change)` : `(${path} would be empty)`];
  }
  return [headingOf(path, current), `+++ ${path} (proposed)`, ...lines];
}

function headingOf(path: string, current: Current): string {
  if (current.kind === 'file') return `--- ${path} (as it is now)`;
  return current.kind === 'absent' ? '--- /dev/null' : `--- (not compared: ${current.reason})`;
}

type Current =
  | { readonly kind: 'file'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly reason: string };

async function currentContent(path: string): Promise<Current> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return { kind: 'unreadable', reason: `${path} is not a file` };
    if (found.size > MAX_BYTES) {
      return { kind: 'unreadable', reason: `${path} has ${found.size} bytes, too many to compare` };
    }
    return { kind: 'file', text: await readFile(path, 'utf8') };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' };
    return { kind: 'unreadable', reason: `${path} cannot be read (${code ?? String(error)})` };
  }
}
