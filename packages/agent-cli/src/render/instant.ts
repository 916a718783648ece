/** An instant as every list shows it: UTC, to the second. */
export function shownInstant(instant: number): string {
  return new Date(instant).toISOString().replace(/\.\d+Z$/, 'Z');
}
