import { httpBodyTooLarge, httpRequestInvalid } from '../base/error-catalog.ts';
import type { JsonValue } from '../base/json.ts';

/** Bytes of a request body that a host or a mount takes when nothing else is said. */
export const DEFAULT_BODY_BYTES: number = 1_048_576;

/**
 * Reads a JSON body, and no more of it than `maxBytes`. Rejects with `HTTP_BODY_TOO_LARGE`, or with
 * `HTTP_REQUEST_INVALID` for what is not UTF-8 or not JSON.
 */
export async function readJson(
  request: Request,
  { maxBytes = DEFAULT_BODY_BYTES }: { readonly maxBytes?: number } = {},
): Promise<JsonValue> {
  const text = await readText(request, maxBytes);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw httpRequestInvalid(
      `The body of this request is not JSON (${String(cause)}).`,
      'Send one JSON value, in UTF-8.',
    );
  }
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes)
    throw httpBodyTooLarge(maxBytes);
  if (request.body === null) return '';
  const reader = request.body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || value === undefined) return text + decode(decoder);
      bytes += value.length;
      if (bytes > maxBytes) throw httpBodyTooLarge(maxBytes);
      text += decode(decoder, value);
    }
  } catch (error) {
    // The rest of the body is nobody's: let the other side stop sending.
    await reader.cancel(error).catch(() => undefined);
    throw error;
  }
}

function decode(decoder: InstanceType<typeof TextDecoder>, bytes?: Uint8Array): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
  } catch {
    throw httpRequestInvalid('The body of this request is not UTF-8.', 'Send JSON in UTF-8.');
  }
}
