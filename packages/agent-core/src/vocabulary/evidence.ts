import type { Instant } from '../base/clock.ts';
import type { RunId } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';

export const EVIDENCE_KINDS = [
  'action-boundary',
  'model',
  'tool',
  'context',
  'context-manifest',
  'context-digest',
  'context-optimization',
  'evaluation',
  'approval',
  'cancellation',
  'delegation',
  'output-guard',
  'signal',
  'checkpoint',
] as const;
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];

/** How much of a tool's result its evidence keeps. */
export const EVIDENCE_CAPTURES = [
  'none',
  'reference-only',
  'summary',
  'structured',
  'raw',
  'redacted',
] as const;
export type EvidenceCapture = (typeof EVIDENCE_CAPTURES)[number];

/** One link of the chain. An erased row has neither payload nor salt; its hashes still verify. */
export type EvidenceRow = {
  /** From 1 in each root. */
  readonly seq: number;
  readonly runId: RunId;
  readonly kind: EvidenceKind;
  readonly at: Instant;
  readonly manifestRef?: string;
  readonly payload?: JsonObject;
  readonly salt?: string;
  readonly payloadDigest: string;
  readonly previousHash: string;
  readonly hash: string;
};
