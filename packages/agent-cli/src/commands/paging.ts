import type { Page } from '@hexagent/agent-core';
import type { Output } from '../render/output.ts';
import { parseCount } from './json-argument.ts';

const DEFAULT_LIMIT = 50;

export type PageOptions = { readonly limit?: string; readonly after?: string };

/** `--limit` and `--after` as the gateway takes them. */
export function pageQuery({ limit, after }: PageOptions): {
  readonly limit: number;
  readonly after?: string;
} {
  return {
    limit: limit === undefined ? DEFAULT_LIMIT : parseCount('limit', limit),
    ...(after === undefined ? {} : { after }),
  };
}

/** Says that there is more, and how to get it. */
export function printNext<T>(output: Output, { next }: Page<T>): void {
  if (next === undefined) return;
  output.record('page', { next });
  output.note(output.style.faint(`There is more: --after ${output.safe(next)}`));
}
