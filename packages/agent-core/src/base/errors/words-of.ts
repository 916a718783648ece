/** What something that was thrown says: anything can be thrown. */
export function wordsOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
