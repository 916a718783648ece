import type { IdSource } from '../base/ids.ts';

/** Ids that repeat: `{prefix}1`, `{prefix}2`, …, and bytes that count on from 0. */
export function fakeIds(prefix = 'id'): IdSource {
  let count = 0;
  let byte = 0;
  return {
    next: () => {
      count += 1;
      return `${prefix}${count}`;
    },
    bytes: (length) => {
      const bytes = new Uint8Array(length);
      for (let index = 0; index < length; index += 1) {
        bytes[index] = byte % 256;
        byte += 1;
      }
      return bytes;
    },
  };
}
