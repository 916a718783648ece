import { createHash, timingSafeEqual } from 'node:crypto';
import { bootstrapInvalid, type Principal } from '@hexagent/agent-core';
import type { Authenticate } from './authenticate.ts';
import { bearerTokenOf } from './bearer-token.ts';

export type BearerOptions = {
  /** Who each token stands for. A token has at least 16 characters. */
  readonly tokens: Readonly<Record<string, Principal>>;
};

const LEAST = 16;

/**
 * Knows callers by a fixed token in `Authorization: Bearer …`. How long the comparison takes says nothing about a token.
 *
 * @example
 * httpHost({ port: 8000, authenticate: bearer({ tokens: { [token]: principal } }) })
 *
 * @throws AgentError `BOOTSTRAP_INVALID` without a token, or for one that is too short to be a secret
 */
export function bearer({ tokens }: BearerOptions): Authenticate {
  const known = Object.entries(tokens);
  const short = known.filter(([token]) => token.length < LEAST).length;
  if (known.length === 0 || short > 0) {
    const seen =
      known.length === 0 ? 'is empty.' : `has ${short} of less than ${LEAST} characters.`;
    throw bootstrapInvalid([
      { at: 'bearer.tokens', seen, mend: 'Use random tokens, from an environment variable.' },
    ]);
  }
  const digests = known.map(([token, principal]) => ({ digest: digestOf(token), principal }));
  return (request) => {
    const token = bearerTokenOf(request);
    if (token === undefined) return undefined;
    const given = digestOf(token);
    let found: Principal | undefined;
    for (const { digest, principal } of digests)
      if (timingSafeEqual(digest, given)) found = principal;
    return found;
  };
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
