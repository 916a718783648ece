import { expect, test } from 'vitest';
import { modalityOf } from './modality.ts';

test('what a model must read for a media type', () => {
  const kinds = ['image/png', 'Audio/WAV', 'video/mp4', 'application/pdf', 'text/csv', 'nonsense'];
  expect(kinds.map(modalityOf)).toEqual([
    'image',
    'audio',
    'video',
    'document',
    'document',
    'document',
  ]);
});
