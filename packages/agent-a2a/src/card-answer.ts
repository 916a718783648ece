import { AgentCard } from '@a2a-js/sdk';

/** Seconds that a client may keep a card. */
const MAX_AGE = 300;

/** The card as it is served, with an entity tag. A card that follows the address it is asked at is not kept by anybody. */
export async function cardAnswer(
  request: Request,
  card: AgentCard,
  { cacheable }: { readonly cacheable: boolean },
): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } });
  }
  const body = JSON.stringify(AgentCard.toJSON(card));
  const etag = `"${await digestOf(body)}"`;
  const headers = {
    'content-type': 'application/json',
    'cache-control': cacheable ? `public, max-age=${MAX_AGE}` : 'no-store',
    etag,
  };
  if (request.headers.get('if-none-match') === etag) {
    return new Response(null, { status: 304, headers });
  }
  return new Response(request.method === 'HEAD' ? null : body, { status: 200, headers });
}

async function digestOf(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(bytes.slice(0, 8))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
