/** Finds many remembered texts in another text, in one pass. */
export interface NeedleSet {
  /** Remembers a text of four characters or more, and what stands in its place. */
  add(needle: string, mask: string): void;
  /** The text up to `upTo`, with what is remembered masked. `before` is the character in front of it, if any. */
  masked(text: string, options?: { readonly before?: string; readonly upTo?: number }): string;
  /** How much of the beginning of a text cannot change any more, whatever follows. */
  settledLength(text: string, before: string): number;
}

type Needle = { readonly text: string; readonly mask: string; readonly isNumber: boolean };
type Found = { readonly start: number; end: number; readonly mask: string };

/**
 * Needles lie in buckets by their first two characters, the longest first. Finds that overlap become one: else the end of
 * the second would be left standing.
 */
export function needleSet(): NeedleSet {
  const buckets = new Map<number, Needle[]>();
  const firsts = new Set<number>();
  const known = new Set<string>();

  const longestAt = (text: string, at: number, before: string): Needle | undefined =>
    buckets
      .get(bucketOf(text, at))
      ?.find(
        (needle) => text.startsWith(needle.text, at) && standsAlone(needle, text, { at, before }),
      );

  const findings = (text: string, before: string): readonly Found[] => {
    const found: Found[] = [];
    for (let at = 0; at + 1 < text.length; at += 1) {
      const needle = longestAt(text, at, before);
      if (needle === undefined) continue;
      const end = at + needle.text.length;
      const last = found.at(-1);
      if (last === undefined || at >= last.end) found.push({ start: at, end, mask: needle.mask });
      else last.end = Math.max(last.end, end);
    }
    return found;
  };

  /** True when a needle begins at this place and goes on behind the end, or might still be touched by a digit. */
  const mayGrow = (text: string, at: number): boolean => {
    if (at === text.length - 1) return firsts.has(text.charCodeAt(at));
    const rest = text.slice(at);
    const bucket = buckets.get(bucketOf(text, at)) ?? [];
    return bucket.some((needle) => {
      return needle.text.startsWith(rest) && (needle.isNumber || needle.text !== rest);
    });
  };

  return {
    add: (text, mask) => {
      if (known.has(text)) return;
      known.add(text);
      firsts.add(text.charCodeAt(0));
      const bucket = buckets.get(bucketOf(text, 0)) ?? [];
      bucket.push({ text, mask, isNumber: NUMBER.test(text) });
      bucket.sort((left, right) => right.text.length - left.text.length);
      buckets.set(bucketOf(text, 0), bucket);
    },
    masked: (text, { before = '', upTo = text.length } = {}) => {
      if (known.size === 0) return text.slice(0, upTo);
      let shown = '';
      let from = 0;
      for (const { start, end, mask } of findings(text, before)) {
        if (start >= upTo) break;
        shown += text.slice(from, start) + mask;
        from = end;
      }
      return shown + text.slice(from, Math.max(from, upTo));
    },
    settledLength: (text, before) => {
      if (known.size === 0) return text.length;
      let open = 0;
      while (open < text.length && !mayGrow(text, open)) open += 1;
      const across = findings(text, before).find(({ start, end }) => start < open && end > open);
      return across?.start ?? open;
    },
  };
}

const NUMBER = /^-?\d+(\.\d+)?(e[+-]\d+)?$/;
const DIGIT = /\d/;

function bucketOf(text: string, at: number): number {
  return text.charCodeAt(at) * 0x10000 + text.charCodeAt(at + 1);
}

/** A number that is a part of a longer one is another number. */
function standsAlone(
  { text: needle, isNumber }: Needle,
  text: string,
  place: { readonly at: number; readonly before: string },
): boolean {
  if (!isNumber) return true;
  const previous = place.at === 0 ? place.before : text.charAt(place.at - 1);
  return !DIGIT.test(previous) && !DIGIT.test(text.charAt(place.at + needle.length));
}
