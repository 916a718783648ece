import type { CallId } from '../base/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';

export type MediaSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'inline'; readonly base64: string }
  | { readonly kind: 'blob'; readonly ref: string };

/** Opaque to core: signatures, encrypted reasoning. Replayed only to the provider that wrote it. */
export type ProviderState = { readonly provider: string; readonly value: JsonValue };

/** How a tool call ended, as the model is told. */
export const CALL_OUTCOMES = ['ok', 'error', 'denied', 'interrupted'] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

export type TextPart = { readonly type: 'text'; readonly text: string };
export type ReasoningPart = {
  readonly type: 'reasoning';
  readonly text: string;
  readonly provider?: ProviderState;
};
export type MediaPart = {
  readonly type: 'media';
  readonly mediaType: string;
  readonly source: MediaSource;
};
export type DataPart = { readonly type: 'data'; readonly data: JsonValue };
export type ToolCallPart = {
  readonly type: 'tool-call';
  readonly callId: CallId;
  /** The provider's own id: for the wire only. */
  readonly providerCallId?: string;
  readonly toolName: string;
  readonly input: JsonObject;
  readonly provider?: ProviderState;
};
export type ToolResultPart = {
  readonly type: 'tool-result';
  readonly callId: CallId;
  readonly outcome: CallOutcome;
  readonly content: readonly Part[];
};

/** A piece of a message. */
export type Part = TextPart | ReasoningPart | MediaPart | DataPart | ToolCallPart | ToolResultPart;

export const MESSAGE_ROLES = ['system', 'user', 'assistant', 'tool'] as const;

export type Message = {
  readonly role: (typeof MESSAGE_ROLES)[number];
  readonly parts: readonly Part[];
  readonly origin: 'user' | 'model' | 'tool' | 'framework';
};

const SOURCE_FIELDS: Readonly<Record<string, string>> = {
  url: 'url',
  inline: 'base64',
  blob: 'ref',
};

/** Whether a value has the form of a media part. */
export function isMediaPart(value: unknown): value is MediaPart {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  if (value.type !== 'media' || !isJsonObject(value)) return false;
  const { mediaType, source } = value;
  if (typeof mediaType !== 'string' || !isJsonObject(source)) return false;
  const field = SOURCE_FIELDS[String(source['kind'])];
  return field !== undefined && typeof source[field] === 'string';
}

/** The text of some parts, joined; reasoning and media are left out, data is shown as JSON. */
export function textOf(parts: readonly Part[]): string {
  let text = '';
  for (const part of parts) {
    if (part.type === 'text') text += part.text;
    else if (part.type === 'data') text += JSON.stringify(part.data);
  }
  return text;
}
