import type { FieldMark } from './mark.ts';

/** Which marked values may be shown. A secret never is. */
export type ExposurePolicy = {
  readonly includePiiValues: boolean;
  /** Of `confidential` and `secret` sensitivity. */
  readonly includeSensitiveValues: boolean;
  /** Mixed into hashes and references; without one a random salt of this process is taken. */
  readonly salt?: string;
};

/** What models, tools' schemas and context may show. */
export type ContextExposurePolicy = ExposurePolicy & {
  /** Puts `x-hexagent-sensitive` into the copies that `inputSchemaFor` and `outputSchemaFor` make. */
  readonly includeSensitiveSchemaMetadata: boolean;
  readonly includeSensitiveContextMetadata: boolean;
};

/** What evidence may show. */
export type EvidenceExposurePolicy = ExposurePolicy & {
  readonly includeSensitiveMetadata: boolean;
};

export const CONTEXT_EXPOSURE: ContextExposurePolicy = Object.freeze({
  includePiiValues: false,
  includeSensitiveValues: false,
  includeSensitiveSchemaMetadata: false,
  includeSensitiveContextMetadata: false,
});

export const EVIDENCE_EXPOSURE: EvidenceExposurePolicy = Object.freeze({
  includePiiValues: false,
  includeSensitiveValues: false,
  includeSensitiveMetadata: true,
});

/** True when a value with this mark may be shown as it is. */
export function isExposed(field: FieldMark, policy: ExposurePolicy): boolean {
  if (field.kind === 'secret') return false;
  switch (field.sensitivity) {
    case 'public':
    case 'internal':
      return true;
    case 'pii':
      return policy.includePiiValues;
    default:
      return policy.includeSensitiveValues;
  }
}
