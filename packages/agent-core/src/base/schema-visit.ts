import type { Problem } from './error-catalog.ts';

/** A problem with a value, and where in the value. */
export type Found = { readonly path: (string | number)[]; readonly text: string };

/** Checks a value, notes what is wrong, and answers the value, completed by defaults. */
export type Visit = (value: unknown, found: Found[]) => unknown;

/** What compiling one schema object needs of the whole: how a schema below is compiled, and where problems go. */
export type Compiling = {
  readonly compile: (schema: unknown, at: string) => Visit;
  readonly problems: Problem[];
};

/** A problem as text: the path, then what is wrong. */
export function shown({ path, text }: Found): string {
  return path.length === 0 ? `the value ${text}` : `${path.join('.')} ${text}`;
}

/** Runs a visit on a member and puts the member's key in front of the paths of what it found. */
export function visitMember(
  visit: Visit,
  member: { readonly key: string | number; readonly value: unknown },
  found: Found[],
): unknown {
  const before = found.length;
  const completed = visit(member.value, found);
  if (found.length > before) for (const one of found.slice(before)) one.path.unshift(member.key);
  return completed;
}

/** How a value's kind is named in a problem. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value === undefined) return 'missing';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
