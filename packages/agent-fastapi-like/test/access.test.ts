import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { AgentError, type JsonObject, type Principal } from '@hexagent/agent-core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Authenticate, bearer, type JwtOptions, jwt } from '../src/index.ts';
import { AT_ONCE, ask, problemIn } from './client.ts';
import { type FakeGateway, fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';

const principal = (tenantId: string): Principal => ({
  scope: { tenantId, userId: 'u1' },
  subject: 'u1',
  roles: [],
  permissions: [],
});

let gateway: FakeGateway;
let host: RunningHost | undefined;
const serve = async (authenticate: Authenticate): Promise<void> => {
  await host?.close();
  host = await startHost(gateway, { authenticate });
};
const call = (path: string, asking: Parameters<typeof ask>[1] = {}) =>
  ask(`${host?.url}${path}`, asking);
const withToken = (token: string) => ({ authorization: `Bearer ${token}` });

beforeEach(() => {
  gateway = fakeGateway();
});
afterEach(async () => {
  await host?.close();
  host = undefined;
});

type Door = readonly [method: string, path: string, body?: JsonObject];

/** Every door that is somebody's, with a body where it takes one. */
const DOORS: readonly Door[] = [
  ['GET', '/agents'],
  ['GET', '/agents/echo'],
  ['POST', '/agents/echo/runs', { message: 'x' }],
  ['GET', '/runs'],
  ['GET', '/runs/r1'],
  ['GET', '/runs/r1/events'],
  ['GET', '/runs/r1/snapshot'],
  ['GET', '/runs/r1/calls'],
  ['POST', '/runs/r1/fork', { atSeq: 1 }],
  ['POST', '/runs/r1/signals', { kind: 'pause' }],
  ['POST', '/runs/r1/cancel', {}],
  ['GET', '/runs/r1/evidence'],
  ['GET', '/runs/r1/evidence/verify'],
  ['GET', '/waits'],
  ['POST', '/waits/r1.w1', { decision: 'approve' }],
  ['GET', '/grants'],
  ['DELETE', '/grants/a.b.c'],
  ['GET', '/conversations/c1'],
  ['GET', '/metrics'],
];
const knock = ([method, path, body]: Door, headers: Record<string, string>) =>
  call(path, { method, headers, ...(body === undefined ? {} : { body }) });

const NAMED = DOORS.map((door): readonly [string, Door] => [`${door[0]} ${door[1]}`, door]);

test('the list of doors is every route that is not public', async () => {
  await serve(() => principal('t'));
  const { body } = await call('/openapi.json');
  const { paths } = body as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { security?: unknown[] }>>>>;
  };
  const guarded = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation.security?.length !== 0)
      .map(([method]) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '*')}`),
  );
  const known = DOORS.map(([method, path]) =>
    `${method} ${path}`
      .replace(/\/(runs|waits|grants|conversations|agents)\/(?!\*)[^/]+/, '/$1/*')
      .trim(),
  );
  expect([...known].sort()).toEqual([...guarded].sort());
});

test.each(NAMED)(
  'C42: %s of somebody without an owner is 403, and nothing is asked',
  async (_name, door) => {
    const odd: readonly unknown[] = [
      {},
      { scope: {}, subject: 's', roles: [], permissions: [] },
      { scope: { tenantId: '' }, subject: 's', roles: [], permissions: [] },
      { ...principal('t'), scope: { tenantId: 't', userId: undefined } },
      { ...principal('t'), scope: { tenantId: 't', userId: '' } },
      { ...principal('t'), subject: undefined },
      { ...principal('t'), roles: 'admin' },
      { ...principal('t'), permissions: [7] },
      'somebody',
    ];
    let next: unknown;
    await serve(() => next as Principal);
    for (next of odd) {
      const answer = await knock(door, {});
      expect(answer).toMatchObject({ status: 403, body: { code: 'OWNER_UNRESOLVED' } });
    }
    expect(gateway.entered).toEqual([]);
  },
);

test.each(NAMED)(
  'C42: %s of nobody is 401, before anything of it is read',
  async (_name, [method, path]) => {
    let next: () => Principal | undefined = () => undefined;
    await serve(() => next());
    const throwing = (): never => {
      throw new Error('the key server is down');
    };
    for (next of [() => undefined, throwing]) {
      const body = method === 'POST' ? { not: 'what it takes', owner: 'me' } : undefined;
      const answer = await call(path, { method, ...(body === undefined ? {} : { body }) });
      expect(answer).toMatchObject({ status: 401, body: { code: 'PRINCIPAL_REQUIRED' } });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    expect(gateway.entered).toEqual([]);
  },
);

test('C42: the owner is who asked, and a body cannot name another', async () => {
  await serve((request) => principal(request.headers.get('x-tenant') ?? ''));
  const start = (extra: JsonObject) =>
    call('/agents/echo/runs', {
      body: { message: 'x', ...extra },
      headers: { ...AT_ONCE, 'x-tenant': 'a' },
    });
  for (const extra of [
    { owner: 'b' },
    { principal: { scope: { tenantId: 'b' } } },
    { scope: { tenantId: 'b' } },
    { tenantId: 'b' },
    { userId: 'u2' },
  ])
    expect((await start(extra)).status).toBe(422);
  await start({});
  expect(gateway.lastCaller()?.principal).toEqual(principal('a'));
});

test('C42: what is another’s looks like what is not there', async () => {
  await serve((request) => principal(request.headers.get('x-tenant') ?? ''));
  const as = (tenant: string) => ({ 'x-tenant': tenant, 'x-request-id': 'same' });
  await call('/agents/echo/runs', { body: { message: 'x' }, headers: { ...AT_ONCE, ...as('a') } });
  const foreign = await call('/runs/r1', { headers: as('b') });
  const missing = await call('/runs/r2', { headers: as('b') });
  expect(foreign.status).toBe(404);
  expect(JSON.stringify(foreign.body)).toBe(JSON.stringify(missing.body).replace('r2', 'r1'));
  expect((await call('/runs/r1/events', { headers: as('b') })).status).toBe(404);
  expect((await call('/runs/r1', { headers: as('a') })).status).toBe(200);
});

test('an `authenticate` that explains itself is quoted; one that throws is not', async () => {
  await serve((request) => {
    throw request.headers.has('x-plain')
      ? new Error('secret words')
      : new AgentError('PRINCIPAL_REQUIRED', { message: 'Expired.', mend: 'Log in.' });
  });
  expect(problemIn(await call('/runs')).detail).toBe('Expired.');
  const plain = await call('/runs', { headers: { 'x-plain': '1' } });
  expect(JSON.stringify(plain.body)).not.toContain('secret words');
});

test('asks once for each request, and sees what came with it', async () => {
  let asked = 0;
  await serve((request, incoming) => {
    asked += 1;
    return principal(`${new URL(request.url).pathname} ${incoming.ip}`);
  });
  await call('/runs');
  expect(asked).toBe(1);
  expect(gateway.lastCaller()?.principal.scope.tenantId).toBe('/runs 127.0.0.1');
});

describe('without authenticate', () => {
  test('a page of another origin cannot act as the local user', async () => {
    host = await startHost(gateway);
    for (const origin of ['https://evil.example', 'null']) {
      expect(await call('/runs', { headers: { origin } })).toMatchObject({
        status: 403,
        body: { code: 'HTTP_ORIGIN_REFUSED' },
      });
    }
    const own = await call('/runs', { headers: { origin: 'http://localhost:5173' } });
    expect(own.status).toBe(200);
    expect(gateway.entered).toHaveLength(1);
  });
});

test('with authenticate another name or origin is no matter', async () => {
  await serve(() => principal('t'));
  expect((await call('/runs', { headers: { origin: 'https://app.example' } })).status).toBe(200);
});

describe('bearer', () => {
  const TOKEN = 'a-token-of-enough-length';

  test('knows a caller by a token of its list, and nobody by any other', async () => {
    await serve(bearer({ tokens: { [TOKEN]: principal('a'), [`${TOKEN}-2`]: principal('b') } }));
    const runs = (authorization: string) => call('/runs', { headers: { authorization } });
    expect((await runs(`Bearer ${TOKEN}`)).status).toBe(200);
    expect(gateway.lastCaller()?.principal).toEqual(principal('a'));
    expect((await runs(`bearer ${TOKEN}-2`)).status).toBe(200);
    expect(gateway.lastCaller()?.principal).toEqual(principal('b'));
    for (const odd of ['', 'Bearer', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, `Bearer ${TOKEN} x`])
      expect((await runs(odd)).status).toBe(401);
  });

  test('takes no token that is none', () => {
    for (const tokens of [{}, { short: principal('t') }])
      expect(() => bearer({ tokens })).toThrow(/bearer.tokens/);
  });
});

describe('jwt', () => {
  const SECRET = 'a shared secret that is long enough';
  const seconds = Math.floor(Date.now() / 1_000);
  const encode = (value: unknown): string =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  const CLAIMS = { sub: 'u1', tenant: 't', exp: seconds + 600 };
  const hmac = (claims: object, { alg = 'HS256', key = SECRET } = {}): string => {
    const head = `${encode({ alg, typ: 'JWT' })}.${encode(claims)}`;
    const hash = `sha${alg.slice(2)}`;
    return `${head}.${createHmac(hash, key).update(head).digest('base64url')}`;
  };
  const whose: JwtOptions['principal'] = ({ sub, tenant }) =>
    typeof sub === 'string' && typeof tenant === 'string'
      ? { scope: { tenantId: tenant, userId: sub }, subject: sub, roles: [], permissions: [] }
      : undefined;
  const statusOf = async (token: string): Promise<number> =>
    (await call('/runs', { headers: withToken(token) })).status;

  test('knows a caller by a token that holds, and by no other', async () => {
    await serve(jwt({ secret: SECRET, principal: whose, issuer: 'me', audience: 'here' }));
    const claims = { ...CLAIMS, iss: 'me', aud: 'here' };
    expect(await statusOf(hmac(claims))).toBe(200);
    expect(gateway.lastCaller()?.principal).toMatchObject({
      scope: { tenantId: 't', userId: 'u1' },
    });
    const unsigned = `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`;
    const { exp: _exp, ...endless } = claims;
    for (const token of [
      unsigned,
      unsigned.slice(0, -1),
      hmac(claims, { alg: 'HS512' }),
      hmac(claims, { key: `${SECRET}!` }),
      hmac({ ...claims, exp: seconds - 10 }),
      hmac({ ...claims, nbf: seconds + 600 }),
      hmac({ ...claims, iss: 'you' }),
      hmac({ ...claims, aud: 'there' }),
      hmac(endless),
      hmac(claims).slice(0, -2),
      hmac(claims).replace(/\.[^.]+\./, `.${encode({ ...claims, tenant: 'other' })}.`),
      'not.a.token',
    ])
      expect(await statusOf(token)).toBe(401);
  });

  test('who shows a token that is not taken is told that it is the token', async () => {
    await serve(jwt({ secret: SECRET, principal: whose }));
    const challenge = async (authorization?: string): Promise<string | null> => {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      return (await call('/runs', { headers })).headers.get('www-authenticate');
    };
    expect(await challenge()).toBe('Bearer');
    expect(await challenge('Basic abc')).toBe('Bearer');
    const expired = hmac({ ...CLAIMS, exp: seconds - 10 });
    expect(await challenge(`Bearer ${expired}`)).toBe('Bearer error="invalid_token"');
  });

  test('why a token is not taken is logged, without the token', async () => {
    const heard: unknown[] = [];
    const authenticate = jwt({ secret: SECRET, principal: whose, issuer: 'me', audience: 'here' });
    const log = { info: (what: unknown) => void heard.push(what) };
    const incoming = { log } as unknown as Parameters<Authenticate>[1];
    const claims = { ...CLAIMS, iss: 'me', aud: 'here' };
    const { exp: _exp, ...endless } = claims;
    const unsigned = `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`;
    const tokens: readonly (readonly [token: string | undefined, refused: string])[] = [
      [undefined, 'there is no bearer token'],
      [hmac({ ...claims, exp: seconds - 10 }), 'it has expired'],
      [hmac({ ...claims, nbf: seconds + 600 }), 'it is not valid yet'],
      [hmac(claims, { alg: 'HS512' }), 'it is signed with another algorithm'],
      [hmac(claims, { key: `${SECRET}!` }), 'its signature does not hold'],
      [unsigned, 'it is not signed'],
      [hmac(endless), 'it has no expiry (exp)'],
      [hmac({ ...claims, iss: 'you' }), 'its claim iss is not the wanted one'],
      [hmac({ ...claims, aud: 'there' }), 'its claim aud is not the wanted one'],
      ['not.a.token', 'it is no signed token with claims'],
    ];
    for (const [token] of tokens) {
      const headers: Record<string, string> = token === undefined ? {} : withToken(token);
      const request = new Request('http://127.0.0.1/runs', { headers });
      expect(await authenticate(request, incoming)).toBeUndefined();
    }
    expect(heard).toEqual(tokens.map(([, refused]) => ({ refused })));
  });

  test('C42: a token that holds and names no owner is 403', async () => {
    await serve(jwt({ secret: SECRET, principal: whose }));
    const { sub: _sub, ...claims } = CLAIMS;
    const answer = await call('/runs', { headers: withToken(hmac(claims)) });
    expect(answer).toMatchObject({ status: 403, body: { code: 'OWNER_UNRESOLVED' } });
    expect(gateway.entered).toEqual([]);
  });

  test('a public key takes its own algorithm, and is no secret of another', async () => {
    for (const [pair, alg, digest] of [
      [generateKeyPairSync('rsa', { modulusLength: 2_048 }), 'RS256', 'sha256'],
      [generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'ES256', 'sha256'],
      [generateKeyPairSync('ed25519'), 'EdDSA', undefined],
    ] as const) {
      const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
      await serve(jwt({ publicKey, principal: whose }));
      const head = `${encode({ alg, typ: 'JWT' })}.${encode(CLAIMS)}`;
      const key = { key: pair.privateKey, dsaEncoding: 'ieee-p1363' as const };
      const signature = sign(digest, Buffer.from(head), key).toString('base64url');
      expect(await statusOf(`${head}.${signature}`)).toBe(200);
      // The public key is known to everybody: it signs nothing.
      expect(await statusOf(hmac(CLAIMS, { key: publicKey }))).toBe(401);
    }
  });

  test('keys and algorithms that do not go together are refused before anything is served', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    for (const options of [
      {},
      { secret: 'short' },
      { secret: SECRET, publicKey: pem },
      { secret: SECRET, algorithms: ['RS256'] },
      { secret: SECRET, algorithms: [] },
      { publicKey: 'no key' },
      { publicKey: pem, algorithms: ['HS256'] },
    ] as const)
      expect(() => jwt({ ...options, principal: whose })).toThrow(/jwt\./);
  });
});
