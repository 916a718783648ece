const PREFIX = 'client:';

/** A client's key, apart from the keys of the store and the gateway: nobody can swallow a wake-up by guessing one. */
export function clientKey(given: string): string {
  return `${PREFIX}${given}`;
}

/** The key as the client gave it. */
export function givenKey(stored: string): string {
  return stored.startsWith(PREFIX) ? stored.slice(PREFIX.length) : stored;
}
