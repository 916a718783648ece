/**
 * The value as a database would give it back: through its JSON text, and frozen, so that neither the
 * writer nor a reader can alter what is stored.
 */
export function frozenCopy<T extends object>(value: T): T {
  const copy: T = JSON.parse(JSON.stringify(value));
  return frozen(copy);
}

function frozen<T extends object>(value: T): T {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) frozen(member);
  }
  return Object.freeze(value);
}
