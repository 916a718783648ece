import type { CallId } from '../base/ids.ts';
import type { JsonValue } from '../base/json.ts';
import type { EvidenceKind } from '../vocabulary/evidence.ts';
import type { CallOutcome, Part } from '../vocabulary/message.ts';
import type { Wait } from '../vocabulary/wait.ts';

export const YIELD_KINDS = [
  'token',
  'progress',
  'tool',
  'evidence',
  'approval',
  'final',
  'error',
  'cancel',
] as const;

/** The contract's stream item: what `handle.yields()` gives, and what hooks and a custom `execute` yield. */
export type AgentYield =
  | { readonly kind: 'token'; readonly text: string }
  | {
      readonly kind: 'progress';
      readonly message: string;
      readonly step?: string;
      readonly detail?: JsonValue;
    }
  | {
      readonly kind: 'tool';
      readonly name: string;
      readonly callId: CallId;
      readonly outcome: CallOutcome;
      readonly content: readonly Part[];
    }
  | { readonly kind: 'evidence'; readonly evidenceKind: EvidenceKind; readonly evidenceSeq: number }
  | { readonly kind: 'approval'; readonly wait: Wait }
  | { readonly kind: 'final'; readonly output: JsonValue }
  | {
      readonly kind: 'error';
      readonly code: string;
      readonly message: string;
      readonly mend: string;
    }
  | { readonly kind: 'cancel'; readonly reason?: string; readonly requestedBy?: string };
