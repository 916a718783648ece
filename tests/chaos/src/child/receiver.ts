import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolKind } from './order.ts';

/** What arrived at the other side: an effect, a read, the question what became of an effect, or a cleanup after it. */
export type Request = {
  readonly what: 'effect' | 'read' | 'probe' | 'cleanup';
  readonly key: string;
  readonly callId: string;
  readonly entry: string;
  readonly fence: number;
};

/**
 * The other side of the tool: a file to which every request is appended. What took effect follows from the
 * rows, by the rules of a receiver of that kind, so a killed process leaves nothing half done.
 */
export function sendTo(folder: string, request: Request): void {
  appendFileSync(fileIn(folder), `${JSON.stringify(request)}\n`, { flush: true });
}

/** Every request, in the order of its arrival. */
export function requestsIn(folder: string): readonly Request[] {
  if (!existsSync(fileIn(folder))) return [];
  const lines = readFileSync(fileIn(folder), 'utf8').split('\n').filter(Boolean);
  return lines.map((line): Request => JSON.parse(line));
}

/**
 * The requests that took effect. A receiver of an idempotent tool applies one key once; one that can be asked
 * refuses what an earlier owner sends after a later one has asked; any other applies whatever it gets.
 */
export function effectsIn(
  folder: string,
  { tool, keyIgnored = false }: { readonly tool: ToolKind; readonly keyIgnored?: boolean },
): readonly Request[] {
  const applied: Request[] = [];
  const asked = new Map<string, number>();
  for (const request of requestsIn(folder)) {
    const { what, key, fence } = request;
    if (what === 'probe') asked.set(key, Math.max(fence, asked.get(key) ?? 0));
    if (what !== 'effect') continue;
    const isRepeated = applied.some((earlier) => earlier.key === key);
    if (tool === 'idempotent' && isRepeated && !keyIgnored) continue;
    if (tool === 'reconcilable' && fence < (asked.get(key) ?? 0)) continue;
    applied.push(request);
  }
  return applied;
}

const fileIn = (folder: string): string => join(folder, 'receiver.jsonl');
