import type { Problem } from '../base/error-catalog.ts';
import { headerProblems } from './check-options.ts';

/** The headers of one request; a Web `Headers` fits. */
export type HeaderList = { keys(): Iterable<string>; delete(name: string): void };

/**
 * Takes out every header but those of `names` and that of the content, and gives the list back. Vendors' clients add headers of
 * their own and of the environment, also in place of those that they are given: an adapter that hands its client a `fetch` has
 * the last word there. Upper and lower case are one.
 *
 * @example
 * const names = ['authorization', 'user-agent'];
 * const send: typeof fetch = (url, init) =>
 *   fetch(url, { ...init, headers: onlyHeaders(new Headers(init?.headers), names) });
 */
export function onlyHeaders<List extends HeaderList>(
  headers: List,
  names: readonly string[],
): List {
  const known = new Set(['content-type', ...names.map((name) => name.toLowerCase())]);
  for (const name of [...headers.keys()]) if (!known.has(name.toLowerCase())) headers.delete(name);
  return headers;
}

/**
 * What is wrong with the variable by which a vendor's client takes headers from the environment, a `name: value` a line. They
 * are not sent where `onlyHeaders` stands; but the client reads them whatever its options say, and fails where no request can
 * carry one. The problem shows nothing of them: they may hold keys.
 *
 * @param text what the environment has under the name `variable`
 */
export function customHeaderProblems(
  variable: string,
  text: string | undefined,
): readonly Problem[] {
  const headers = (text?.trim() ?? '').split('\n').flatMap((line) => {
    const colon = line.indexOf(':');
    return colon < 0 ? [] : [[line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const];
  });
  if (headerProblems(Object.fromEntries(headers)).length === 0) return [];
  return [
    {
      at: variable,
      seen: 'it is no list of headers.',
      mend: "Unset it in the environment: it is not sent, headers are given as an option; but the provider's client reads it.",
    },
  ];
}
