import type { Part } from '@hexagent/agent-core';
import { type JsonObject, modelRequestInvalid } from '@hexagent/agent-core/adapter';

type MediaPart = Extract<Part, { type: 'media' }>;

/** A media part as a content part: images, audio and video, by address or inline. */
export function mediaContent({ mediaType, source }: MediaPart): JsonObject {
  if (source.kind === 'blob') {
    throw modelRequestInvalid({
      reason: `a ${mediaType} part still refers to the blob "${source.ref}"`,
      mend: 'Read the blob and send it inline, or by an address that the model server reaches.',
    });
  }
  const url = source.kind === 'url' ? source.url : `data:${mediaType};base64,${source.base64}`;
  const [family = '', format = ''] = mediaType.split('/');
  if (family === 'image') return { type: 'image_url', image_url: { url } };
  if (family === 'video') return { type: 'video_url', video_url: { url } };
  if (family === 'audio') {
    if (source.kind === 'url') return { type: 'audio_url', audio_url: { url } };
    return {
      type: 'input_audio',
      input_audio: {
        data: source.base64,
        format: format === 'mpeg' ? 'mp3' : format.replace(/^x-/, ''),
      },
    };
  }
  throw modelRequestInvalid({
    reason: `a part of type "${mediaType}" has no place in a chat-completions request`,
    mend: 'Send text, images, audio or video; turn documents into text before.',
  });
}
