import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { parseJson } from './parse-json.ts';

/** What a server said about an error, in whichever of the usual shapes. */
export type ProviderFault = {
  readonly message: string;
  readonly type?: string;
  /** A word such as `context_length_exceeded`. */
  readonly code?: string;
  /** A number in the place of the code: the HTTP status that the server means. */
  readonly status?: number;
  readonly param?: string;
  /** `n_prompt_tokens` and `n_ctx`, where the server gives them as numbers. */
  readonly promptTokens?: number;
  readonly window?: number;
};

const LONGEST = 2000;

/** Reads the body of an error response: JSON in any nesting, else plain text, else the title of a page. */
export function faultOfBody(body: string): ProviderFault {
  const text = body.trim();
  const value = parseJson(text);
  const fault = value === undefined ? undefined : faultOf(value);
  if (fault !== undefined) return fault;
  if (/^<(!doctype|html|head|body)/i.test(text)) {
    const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1]?.trim();
    return { message: title ? `an HTML page, "${title}"` : 'an HTML page' };
  }
  return { message: text.slice(0, LONGEST) || 'an empty body' };
}

/**
 * Reads an error value: `{ error: { message, … } }`, `{ error: "text" }`, flat `{ message, … }`,
 * FastAPI's `{ detail }`. Undefined when it is none of them.
 */
export function faultOf(value: JsonValue): ProviderFault | undefined {
  if (typeof value === 'string') return { message: value.slice(0, LONGEST) };
  if (!isJsonObject(value)) return undefined;
  const { error, detail } = value;
  if (error !== undefined && error !== null) {
    if (isJsonObject(error)) return flat(error, value);
    return { message: String(error).slice(0, LONGEST), ...codes(value) };
  }
  if (detail !== undefined) {
    return { message: typeof detail === 'string' ? detail : JSON.stringify(detail) };
  }
  return typeof value['message'] === 'string' ? flat(value, value) : undefined;
}

function flat(fault: JsonObject, outer: JsonObject): ProviderFault {
  const message = fault['message'];
  const metadata = fault['metadata'];
  const upstream = isJsonObject(metadata) ? metadata['raw'] : undefined;
  const text = typeof message === 'string' ? message : JSON.stringify(fault);
  return {
    message: (typeof upstream === 'string' ? `${text} (${upstream})` : text).slice(0, LONGEST),
    ...codes(outer),
    ...codes(fault),
  };
}

function codes(fault: JsonObject): Omit<ProviderFault, 'message'> {
  const { type, code, param } = fault;
  const promptTokens = fault['n_prompt_tokens'];
  const window = fault['n_ctx'];
  return {
    ...(typeof type === 'string' ? { type } : {}),
    ...(typeof param === 'string' ? { param } : {}),
    ...(typeof code === 'number' ? { status: code } : {}),
    ...(typeof code === 'string' && /^\d{3}$/.test(code) ? { status: Number(code) } : {}),
    ...(typeof code === 'string' && !/^\d{3}$/.test(code) ? { code } : {}),
    ...(typeof promptTokens === 'number' ? { promptTokens } : {}),
    ...(typeof window === 'number' ? { window } : {}),
  };
}
