import { fromBase64 } from '../base/base64.ts';
import type { DataPart, MediaPart, Part } from '../vocabulary/message.ts';
import type { ActiveRun } from './active-run.ts';

/** What one commit can hold of a single result: more goes to the blob store, or is cut, whatever the tool allows. */
const MAX_STORED = 1024 * 1024;

/**
 * A result within its budget: as it is, or put into the blob store with a reference, or cut with a line
 * that says so. The budget counts the UTF-8 bytes of the text forms of all parts.
 */
export function withinBudget(
  run: ActiveRun,
  content: readonly Part[],
  budget: number,
): readonly Part[] | Promise<readonly Part[]> {
  let length = 0;
  for (const part of content) {
    if (part.type === 'media') return mediaWithinBudget(run, content, budget);
    length += lengthOf(part);
  }
  const maxBytes = run.journal === undefined ? budget : Math.min(budget, MAX_STORED);
  run.journal?.weighs(Math.min(length, maxBytes));
  // A UTF-16 unit is at most three bytes: most results need no encoding to be known as small.
  if (length * 3 <= maxBytes) return content;
  const text = content.map(textForm).join('\n');
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return content;
  const { blobs } = run.setup;
  const scope = run.facts.principal.scope;
  if (blobs === undefined) return [cut(bytes, maxBytes)];
  const stop = { signal: run.storage.signal };
  return blobs
    .put(bytes, { mediaType: 'text/plain; charset=utf-8', scope, ...stop })
    .then((ref) => [
      cut(bytes, maxBytes),
      { type: 'media', mediaType: 'text/plain; charset=utf-8', source: { kind: 'blob', ref } },
    ]);
}

/** Media are measured one by one: what is large goes to the blob store, and is left out where there is none and no commit could hold it. */
async function mediaWithinBudget(
  run: ActiveRun,
  content: readonly Part[],
  budget: number,
): Promise<readonly Part[]> {
  const kept: Part[] = [];
  for (const part of content) {
    if (isMedia(part)) kept.push(await keptMedia(run, part, budget));
    else kept.push(...(await withinBudget(run, [part], budget)));
  }
  return kept;
}

async function keptMedia(run: ActiveRun, part: MediaPart, budget: number): Promise<Part> {
  const { mediaType, source } = part;
  const { length } = JSON.stringify(source);
  const { blobs } = run.setup;
  if (source.kind === 'inline' && length > budget && blobs !== undefined) {
    const ref = await blobs.put(fromBase64(source.base64), {
      mediaType,
      scope: run.facts.principal.scope,
      signal: run.storage.signal,
    });
    return { type: 'media', mediaType, source: { kind: 'blob', ref } };
  }
  run.journal?.weighs(Math.min(length, MAX_STORED));
  if (run.journal === undefined || length <= MAX_STORED) return part;
  const text = `[${mediaType}: ${length} characters, which is too much to keep]`;
  return { type: 'text', text };
}

function isMedia(part: Part): part is MediaPart {
  return part.type === 'media';
}

function cut(bytes: Uint8Array, maxBytes: number): Part {
  let end = maxBytes;
  // Never in the middle of a character: continuation bytes start with the bits 10.
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  const text = new TextDecoder().decode(bytes.subarray(0, end));
  return { type: 'text', text: `${text}\n[cut: the first ${end} of ${bytes.length} bytes]` };
}

function lengthOf(part: Part): number {
  return part.type === 'text' ? part.text.length : textForm(part).length;
}

function textForm(part: Part): string {
  if (part.type === 'text') return part.text;
  return JSON.stringify((part as DataPart).data);
}
