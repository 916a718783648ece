/** Tokens of one or more model calls. Absent means that the provider did not say. */
export type Usage = {
  /** The whole prompt, what was read from a cache or written to it included. */
  readonly inputTokens?: number;
  /** The whole answer, its reasoning included. */
  readonly outputTokens?: number;
  /** The part of `inputTokens` that the provider read from its cache. */
  readonly cachedInputTokens?: number;
  /** The part of `inputTokens` that the provider wrote to its cache, for however long. */
  readonly cacheWriteTokens?: number;
  /** The part of `cacheWriteTokens` that is kept for an hour, where the provider says it apart. */
  readonly cacheWrite1hTokens?: number;
  /** The part of `outputTokens` that was reasoning. */
  readonly reasoningTokens?: number;
};

const FIELDS = [
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'cacheWrite1hTokens',
  'reasoningTokens',
] as const satisfies readonly (keyof Usage)[];

/** The sum over calls. Within one call usage is set, never added. */
export function addUsage(left: Usage, right: Usage): Usage {
  const sum: { -readonly [K in keyof Usage]: Usage[K] } = {};
  for (const field of FIELDS) {
    if (left[field] === undefined && right[field] === undefined) continue;
    sum[field] = (left[field] ?? 0) + (right[field] ?? 0);
  }
  return sum;
}

/** Input and output together; undefined when neither is known. */
export function totalTokens(usage: Usage): number | undefined {
  if (usage.inputTokens === undefined && usage.outputTokens === undefined) return undefined;
  return (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
}
