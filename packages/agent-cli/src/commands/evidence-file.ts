import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { EvidenceRow } from '@hexagent/agent-core';
import { UsageError } from '../usage-error.ts';

/**
 * The rows of an exported trail, a line at a time: a file of any length takes the memory of a line. A line that is
 * no JSON is handed on as it is, so that the verifier names the row.
 */
export async function* rowsOfFile(
  file: string,
  { signal }: { readonly signal: AbortSignal },
): AsyncGenerator<readonly EvidenceRow[]> {
  const stream = createReadStream(file, { encoding: 'utf8', signal });
  const failed = new Promise<never>((_, reject) => {
    stream.once('error', reject);
  });
  failed.catch(() => undefined);
  const lines = createInterface({ input: stream, crlfDelay: Infinity })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await Promise.race([lines.next(), failed]);
      if (done === true) break;
      if (value.trim() !== '') yield [rowOf(value)];
    }
    // An empty file and a file that cannot be read both end without a line.
    if (stream.errored !== null) throw stream.errored;
  } catch (error) {
    signal.throwIfAborted();
    throw new UsageError(
      `The file "${file}" cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
      'Name a file that "hexagent evidence <run> --jsonl" wrote.',
    );
  } finally {
    stream.destroy();
  }
}

function rowOf(line: string): EvidenceRow {
  try {
    return JSON.parse(line) as EvidenceRow;
  } catch {
    return line as unknown as EvidenceRow;
  }
}
