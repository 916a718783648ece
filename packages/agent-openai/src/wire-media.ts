import type { MediaPart } from '@hexagent/agent-core';
import { type AgentError, modalityOf, modelRequestInvalid } from '@hexagent/agent-core/adapter';

/** A media part by what it is: addresses stay addresses, bytes become a data URL. */
export type WireMedia =
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'audio'; readonly base64: string; readonly format: 'mp3' | 'wav' }
  | { readonly kind: 'document'; readonly url: string }
  | { readonly kind: 'document'; readonly data: string; readonly filename: string };

const AUDIO_FORMATS: Readonly<Record<string, 'mp3' | 'wav'>> = {
  mpeg: 'mp3',
  mp3: 'mp3',
  wav: 'wav',
  wave: 'wav',
  'x-wav': 'wav',
};

/** Throws `MODEL_REQUEST_INVALID` for what neither API takes. */
export function wireMedia({ mediaType, source }: MediaPart): WireMedia {
  if (source.kind === 'blob') {
    throw modelRequestInvalid({
      reason: `a ${mediaType} part still refers to the blob "${source.ref}"`,
      mend: 'Read the blob and send it inline, or by an address that the provider reaches.',
    });
  }
  const [type = ''] = mediaType.toLowerCase().split(';', 1);
  const format = type.split('/')[1] ?? '';
  const inline = source.kind === 'inline' ? `data:${type};base64,${source.base64}` : undefined;
  switch (modalityOf(type)) {
    case 'image':
      return { kind: 'image', url: source.kind === 'url' ? source.url : String(inline) };
    case 'document':
      return source.kind === 'url'
        ? { kind: 'document', url: source.url }
        : { kind: 'document', data: String(inline), filename: `document.${extensionOf(format)}` };
    case 'audio': {
      const known = AUDIO_FORMATS[format];
      if (known !== undefined && source.kind === 'inline') {
        return { kind: 'audio', base64: source.base64, format: known };
      }
      throw noPlace(mediaType, 'Send audio inline, as audio/mpeg or audio/wav.');
    }
    case 'video':
      throw noPlace(mediaType, 'Send pictures of the video, or its sound.');
  }
}

/** The wire has no place for a media type. */
export function noPlace(mediaType: string, mend: string): AgentError {
  return modelRequestInvalid({
    reason: `a part of type "${mediaType}" has no place in a request`,
    mend,
  });
}

/** What the name of a file ends in, by which the provider knows its kind. */
function extensionOf(format: string): string {
  const known: Readonly<Record<string, string>> = {
    plain: 'txt',
    markdown: 'md',
    'vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
    'vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  };
  return known[format] ?? format;
}
