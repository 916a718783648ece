import type { MediaPart } from '@hexagent/agent-core';
import { type JsonObject, modalityOf, modelRequestInvalid } from '@hexagent/agent-core/adapter';
import type { ServerProfile } from './server-profile.ts';

/**
 * A media part as a content part: images, audio, video and documents, by address or inline. Throws
 * `MODEL_REQUEST_INVALID` for what the server has no place for.
 */
export function mediaContent({ mediaType, source }: MediaPart, profile: ServerProfile): JsonObject {
  if (source.kind === 'blob') {
    throw modelRequestInvalid({
      reason: `a ${mediaType} part still refers to the blob "${source.ref}"`,
      mend: 'Read the blob and send it inline, or by an address that the model server reaches.',
    });
  }
  const kind = modalityOf(mediaType);
  if (!profile.media[kind].includes(source.kind)) throw misplaced(mediaType, source.kind, profile);
  const url = source.kind === 'url' ? source.url : `data:${mediaType};base64,${source.base64}`;
  switch (kind) {
    case 'image':
      return { type: 'image_url', image_url: { url } };
    case 'video':
      return { type: 'video_url', video_url: { url } };
    case 'audio':
      if (source.kind === 'url' || profile.inlineAudio === 'audio_url') {
        return { type: 'audio_url', audio_url: { url } };
      }
      return {
        type: 'input_audio',
        input_audio: { data: source.base64, format: formatOf(mediaType) },
      };
    case 'document':
      return { type: 'file', file: { filename: nameOf(mediaType), file_data: url } };
  }
}

function misplaced(mediaType: string, kind: 'url' | 'inline', { media, name }: ServerProfile) {
  const modality = modalityOf(mediaType);
  const how = kind === 'url' ? 'by its address' : 'inline';
  const [other] = media[modality];
  const kinds = Object.entries(media).flatMap(([each, kinds]) => (kinds.length > 0 ? [each] : []));
  return modelRequestInvalid({
    reason: `a part of type "${mediaType}" cannot be sent ${how} to a server of profile "${name}"`,
    mend:
      other === undefined
        ? `Send text${kinds.map((each) => `, ${each}`).join('')}; turn anything else into text before.`
        : `Send it ${other === 'url' ? 'by an address that the model server reaches' : 'inline'}.`,
  });
}

function formatOf(mediaType: string): string {
  const format = mediaType.split('/', 2)[1] ?? '';
  return format === 'mpeg' ? 'mp3' : format.replace(/^x-/, '');
}

/** A file needs a name, whose ending some servers read; a part has none of its own. */
function nameOf(mediaType: string): string {
  const ending = (mediaType.split('/', 2)[1] ?? '').replace(/[^a-z0-9].*$/i, '');
  return mediaType === 'text/plain' ? 'document.txt' : `document.${ending || 'bin'}`;
}
