export const MODALITIES = ['text', 'image', 'audio', 'video', 'document'] as const;
export type Modality = (typeof MODALITIES)[number];

/** What a model must be able to read for a media type: `image/png` is an image; what is none of the three is a document. */
export function modalityOf(mediaType: string): Exclude<Modality, 'text'> {
  const [kind = ''] = mediaType.toLowerCase().split('/', 1);
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}
