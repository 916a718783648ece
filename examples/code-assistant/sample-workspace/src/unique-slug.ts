import { slugify } from './slugify.ts';

/** A slug that nobody has yet: the second "Hello" becomes "hello-2". */
export function uniqueSlug(title: string, taken: ReadonlySet<string>): string {
  const slug = slugify(title);
  for (let number = 2; ; number += 1) {
    const candidate = number === 2 && !taken.has(slug) ? slug : `${slug}-${number}`;
    if (!taken.has(candidate)) return candidate;
  }
}
