import { createPublicKey } from 'node:crypto';
import fastifyJwt, { type FastifyJWTOptions } from '@fastify/jwt';
import {
  bootstrapInvalid,
  isJsonObject,
  type JsonObject,
  ownerUnresolved,
  type Principal,
} from '@hexagent/agent-core';
import fastify from 'fastify';
import type { Authenticate } from './authenticate.ts';
import { bearerTokenOf } from './bearer-token.ts';

/** Signatures that are taken. `none` is not among them. */
export const JWT_ALGORITHMS = [
  'HS256',
  'HS384',
  'HS512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;
export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];

export type JwtOptions = {
  /** Of tokens that are signed with a shared secret, of at least 32 bytes. Either this or `publicKey`. */
  readonly secret?: string;
  /** PEM of the key that tokens are verified with. */
  readonly publicKey?: string;
  /** Default: `HS256` with a secret; with a public key the one that belongs to it. No other is taken, whatever a token says. */
  readonly algorithms?: readonly JwtAlgorithm[];
  /** Who must have issued the token. Default: nobody is asked for. */
  readonly issuer?: string;
  /** For whom the token must be. Default: nobody is asked for. */
  readonly audience?: string;
  /** Seconds by which clocks may differ. Default 0. */
  readonly clockToleranceSeconds?: number;
  /**
   * Whose request it is. Undefined, or a principal without an owner, is refused with 403: a token that is valid and of which
   * nobody says what it may see, sees nothing.
   */
  readonly principal: (
    claims: JsonObject,
  ) => Principal | undefined | Promise<Principal | undefined>;
};

const LEAST_SECRET_BYTES = 32;

/**
 * Knows callers by a signed token in `Authorization: Bearer …`. A token that is not signed, signed otherwise, expired, not valid
 * yet or without an expiry (`exp`) is nobody's: 401, and the log says why (`info`). Look at the types of claims, and never `String()` one: a token
 * without a tenant would be one of the tenant "undefined".
 *
 * @example
 * authenticate: jwt({ secret, principal: ({ sub, tenant }) =>
 *   typeof sub === 'string' && typeof tenant === 'string'
 *     ? { scope: { tenantId: tenant, userId: sub }, subject: sub, roles: [], permissions: [] }
 *     : undefined })
 *
 * @throws AgentError `BOOTSTRAP_INVALID` for keys and algorithms that do not go together
 */
export function jwt(options: JwtOptions): Authenticate {
  const verifying = verifierOf(options);
  return async (request, { log }) => {
    const token = bearerTokenOf(request);
    const verify = await verifying();
    const { claims, refused } = token === undefined ? NO_TOKEN : verify(token);
    if (claims === undefined) {
      log.info({ refused }, '`jwt` knows nobody by it');
      return undefined;
    }
    const principal = await options.principal(claims);
    if (principal === undefined)
      throw ownerUnresolved('`jwt.principal` gave nobody for its claims');
    return principal;
  };
}

type Verified =
  | { readonly claims: JsonObject; readonly refused?: undefined }
  | { readonly claims?: undefined; readonly refused: string };
type Verify = (token: string) => Verified;

const NO_TOKEN: Verified = { refused: 'there is no bearer token' };
const NO_CLAIMS: Verified = { refused: 'it is no signed token with claims' };

/** Why a token is not taken, by what the library says of it. Nothing of the token is in these words. */
const REFUSALS: Readonly<Record<string, string>> = {
  FAST_JWT_EXPIRED: 'it has expired',
  FAST_JWT_INACTIVE: 'it is not valid yet',
  FAST_JWT_INVALID_ALGORITHM: 'it is signed with another algorithm',
  FAST_JWT_INVALID_SIGNATURE: 'its signature does not hold',
  FAST_JWT_MISSING_SIGNATURE: 'it is not signed',
  FAST_JWT_MISSING_REQUIRED_CLAIM: 'it has no expiry (exp)',
};

function refusalOf(error: unknown): Verified {
  if (!(error instanceof Error) || !('code' in error)) return NO_CLAIMS;
  const known = REFUSALS[String(error.code)];
  if (known !== undefined) return { refused: known };
  const [, claim] = /^The (iss|aud|exp|nbf) claim/.exec(error.message) ?? [];
  return claim === undefined ? NO_CLAIMS : { refused: `its claim ${claim} is not the wanted one` };
}

/** The plugin lives in a Fastify of its own that never listens: a host needs no decorator of its name, and neither does an application. */
function verifierOf(options: JwtOptions): () => Promise<Verify> {
  const settings = checked(options);
  let made: Promise<Verify> | undefined;
  const make = async (): Promise<Verify> => {
    const keeper = fastify();
    await keeper.register(fastifyJwt, settings);
    await keeper.ready();
    return (token) => {
      try {
        const claims: unknown = keeper.jwt.verify(token);
        return isJsonObject(claims) ? { claims } : NO_CLAIMS;
      } catch (error) {
        return refusalOf(error);
      }
    };
  };
  return () => {
    made ??= make();
    return made;
  };
}

function checked({
  secret,
  publicKey,
  algorithms,
  issuer,
  audience,
  clockToleranceSeconds = 0,
}: JwtOptions): FastifyJWTOptions {
  const refuse = (at: string, seen: string, mend: string): never => {
    throw bootstrapInvalid([{ at: `jwt.${at}`, seen, mend }]);
  };
  if ((secret === undefined) === (publicKey === undefined))
    return refuse('secret', 'must be given, or `publicKey`, and not both.', 'Give one of them.');
  if (secret !== undefined && Buffer.byteLength(secret) < LEAST_SECRET_BYTES)
    return refuse('secret', `has less than ${LEAST_SECRET_BYTES} bytes.`, 'Use a longer one.');
  const fitting =
    publicKey === undefined ? (['HS256', 'HS384', 'HS512'] as const) : algorithmsOf(publicKey);
  if (fitting.length === 0)
    return refuse('publicKey', 'is no PEM of a public key.', 'Give RSA, EC or Ed25519.');
  const [first] = fitting;
  const allowed = algorithms ?? (first === undefined ? [] : [first]);
  const odd = allowed.filter((algorithm) => !fitting.some((one) => one === algorithm));
  if (allowed.length === 0 || odd.length > 0)
    return refuse(
      'algorithms',
      `${odd.join(', ') || 'nothing'} does not go with this key.`,
      `Use one of ${fitting.join(', ')}.`,
    );
  return {
    secret: publicKey === undefined ? (secret ?? '') : { public: publicKey, private: '' },
    verify: {
      algorithms: [...allowed],
      requiredClaims: ['exp'],
      clockTolerance: clockToleranceSeconds * 1_000,
      cache: false,
      ...(issuer === undefined ? {} : { allowedIss: issuer }),
      ...(audience === undefined ? {} : { allowedAud: audience }),
    },
  };
}

/** The algorithms of a key, its own first; none for what is no key. */
function algorithmsOf(publicKey: string): readonly JwtAlgorithm[] {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey(publicKey);
    if (asymmetricKeyType === 'rsa') return ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
    if (asymmetricKeyType === 'ed25519') return ['EdDSA'];
    if (asymmetricKeyType !== 'ec') return [];
    const curves = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' } as const;
    const curve = asymmetricKeyDetails?.namedCurve;
    return curve !== undefined && isKeyOf(curves, curve) ? [curves[curve]] : [];
  } catch {
    return [];
  }
}

function isKeyOf<T extends object>(record: T, key: string): key is keyof T & string {
  return Object.hasOwn(record, key);
}
