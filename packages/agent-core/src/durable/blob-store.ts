import type { Stop } from '../base/abort.ts';
import { definePort, type Port } from '../base/port.ts';
import type { Scope } from '../vocabulary/scope.ts';

/** Large values beside the store: results above a tool's `maxResultBytes`, media. */
export interface BlobStore {
  put(
    bytes: Uint8Array,
    options: { readonly mediaType: string; readonly scope: Scope } & Stop,
  ): Promise<string>;
  get(ref: string, options: { readonly scope: Scope } & Stop): Promise<Uint8Array>;
}

export const BlobStore: Port<BlobStore> = definePort<BlobStore>('blob-store');
