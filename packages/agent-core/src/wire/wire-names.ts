import type { Problem } from '../base/error-catalog.ts';
import { shortHash } from './short-hash.ts';

/** The two ways through a mapping of tool names. */
export type WireNames = {
  /** What the wire calls a tool. A name that was not mapped gets the name that it would have got. */
  toWire(name: string): string;
  /** What the application calls it. A name that the model made up comes back as it is. */
  toName(wire: string): string;
};

/** Two names that look the same on the wire, or one that cannot be a name. */
export type WireNameProblems = { readonly problems: readonly Problem[] };

const LONGEST = 64;
const OUTSIDE = /[^a-zA-Z0-9_-]/g;

/**
 * Maps the application's tool names (`workspace.read`) onto what model servers accept
 * (`[a-zA-Z0-9_-]{1,64}`). A wire name depends on its own name alone, so the order of the tools and
 * the tools beside it do not change it; names that meet are all reported.
 */
export function wireNames(names: readonly string[]): WireNames | WireNameProblems {
  const byWire = new Map<string, string>();
  const byName = new Map<string, string>();
  const problems: Problem[] = [];
  for (const name of names) {
    const wire = wireName(name);
    const earlier = byWire.get(wire);
    if (name === '') {
      problems.push({ at: 'tool ""', seen: 'The name is empty.', mend: 'Give it a name.' });
    } else if (earlier !== undefined) {
      problems.push({
        at: `tool "${name}"`,
        seen:
          earlier === name
            ? 'The name is there twice.'
            : `On the wire it is "${wire}", as "${earlier}" is.`,
        mend: 'Rename one of the two.',
      });
    } else {
      byWire.set(wire, name);
      byName.set(name, wire);
    }
  }
  if (problems.length > 0) return { problems };
  return {
    toWire: (name) => byName.get(name) ?? wireName(name),
    toName: (wire) => byWire.get(wire) ?? wire,
  };
}

/** The wire's form of one name; long ones keep their beginning and end in a hash of the whole. */
export function wireName(name: string): string {
  const plain = name.replace(OUTSIDE, '_');
  if (plain.length <= LONGEST) return plain;
  return `${plain.slice(0, LONGEST - 9)}_${shortHash(name, 8)}`;
}
