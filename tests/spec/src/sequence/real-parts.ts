import { TAIL_LIMIT } from '../../models/sequence/model.mjs';
import { KEPT, RealOwner } from './real-owner.ts';
import { RealReader } from './real-reader.ts';
import { RealStore } from './real-store.ts';

/** What the model's world is made of, from the product: the feed, its rows, and readers of both. */
export const REAL_PARTS = {
  Store: RealStore,
  Owner: RealOwner,
  Reader: RealReader,
  queueLimit: KEPT + TAIL_LIMIT + 6,
} as const;
