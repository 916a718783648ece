import type {
  DocumentBlockParam,
  ImageBlockParam,
} from '@anthropic-ai/sdk/resources/messages/messages';
import type { Part } from '@hexagent/agent-core';
import { modelRequestInvalid } from '@hexagent/agent-core/adapter';

type MediaPart = Extract<Part, { type: 'media' }>;

const IMAGES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const;

/** A media part as a block: images and PDFs, inline or by address, and inline texts as documents. */
export function mediaBlock(part: MediaPart): ImageBlockParam | DocumentBlockParam {
  const { source } = part;
  const mediaType = part.mediaType.toLowerCase().split(';', 1)[0]?.trim() ?? '';
  if (source.kind === 'blob') {
    throw modelRequestInvalid({
      reason: `a ${mediaType} part still refers to the blob "${source.ref}"`,
      mend: 'Read the blob and send it inline, or by an address that the provider reaches.',
    });
  }
  if (source.kind === 'url') return byAddress(mediaType, source.url);
  const { base64: data } = source;
  const image = IMAGES.find((type) => type === mediaType);
  if (image !== undefined) {
    return { type: 'image', source: { type: 'base64', media_type: image, data } };
  }
  if (mediaType === 'application/pdf') {
    return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } };
  }
  if (mediaType.startsWith('text/')) {
    return {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: decoded(data) },
    };
  }
  throw noPlace(mediaType);
}

function byAddress(mediaType: string, url: string): ImageBlockParam | DocumentBlockParam {
  if (!/^https?:/i.test(url)) {
    throw modelRequestInvalid({
      reason: `a ${mediaType} part has an address that is neither http: nor https:`,
      mend: 'Send it inline, or by an address that the provider reaches.',
    });
  }
  if (mediaType.startsWith('image/')) return { type: 'image', source: { type: 'url', url } };
  if (mediaType === 'application/pdf') return { type: 'document', source: { type: 'url', url } };
  if (mediaType.startsWith('text/')) {
    throw modelRequestInvalid({
      reason: `a ${mediaType} part is given by its address, which the provider takes of images and PDFs only`,
      mend: 'Send the text inline.',
    });
  }
  throw noPlace(mediaType);
}

function decoded(base64: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0)));
  } catch {
    throw modelRequestInvalid({
      reason: 'an inline text part is not base64',
      mend: 'Encode its UTF-8 bytes as base64.',
    });
  }
}

function noPlace(mediaType: string): Error {
  return modelRequestInvalid({
    reason: `a part of type "${mediaType}" has no place in a Messages request`,
    mend: `Send ${IMAGES.join(', ')}, application/pdf or text; turn the rest into text before.`,
  });
}
