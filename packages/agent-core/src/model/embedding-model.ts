import type { Stop } from '../base/abort.ts';
import { definePort, type Port } from '../base/port.ts';
import type { Usage } from '../vocabulary/usage.ts';

export const EMBEDDING_PURPOSES = ['document', 'query'] as const;
export type EmbeddingPurpose = (typeof EMBEDDING_PURPOSES)[number];

export type EmbeddingRequest = {
  readonly texts: readonly string[];
  /** Some models embed what is searched and what is searched for differently. */
  readonly purpose?: EmbeddingPurpose;
  /** How long the vectors shall be, for a model that can shorten them. */
  readonly dimensions?: number;
};

export type EmbeddingAnswer = {
  /** One for each text, in order, all of one length. */
  readonly vectors: readonly Float32Array[];
  readonly usage: Usage;
  /** The model that answered, as the provider names it. */
  readonly model: string;
};

/** Turns texts into vectors whose nearness is nearness of meaning. */
export interface EmbeddingModel {
  readonly id: string;
  /** The length of its vectors, where it is known beforehand. */
  readonly dimensions?: number;
  /**
   * - an empty list of texts is answered with an empty list, and nobody is asked;
   * - more texts than the provider takes at once are asked for in parts, and come back in order;
   * - failures are thrown, as `AgentError` (code, retryable, retryAfterMs); once aborted, `signal.reason`.
   */
  embed(request: EmbeddingRequest, stop: Stop): Promise<EmbeddingAnswer>;
}

export const EmbeddingModel: Port<EmbeddingModel> = definePort<EmbeddingModel>('embedding-model');
