/** All tokens of one request together; a token has at least one byte, so bytes are a bound that no tokenizer moves. */
const MOST_BYTES = 300_000;

/**
 * Texts in requests that the provider takes, in order. A text that is too long by itself stays alone, for the provider
 * to judge.
 */
export function textBatches(
  texts: readonly string[],
  batchSize: number,
): readonly (readonly string[])[] {
  const encoder = new TextEncoder();
  const batches: string[][] = [];
  let last: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = encoder.encode(text).length;
    const isFull = last.length >= batchSize || bytes + size > MOST_BYTES;
    if (batches.length === 0 || isFull) {
      last = [];
      batches.push(last);
      bytes = 0;
    }
    last.push(text);
    bytes += size;
  }
  return batches;
}
