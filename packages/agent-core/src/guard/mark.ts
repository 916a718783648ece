/** What kind of value a marked field holds. */
export const PII_CATEGORIES = [
  'name',
  'email',
  'phone',
  'address',
  'account-id',
  'identifier',
  'location',
] as const;
export const SENSITIVITIES = ['public', 'internal', 'confidential', 'pii', 'secret'] as const;
export type PiiCategory = (typeof PII_CATEGORIES)[number];
export type Sensitivity = (typeof SENSITIVITIES)[number];

export const MASKINGS = ['redact', 'last-four', 'first-last', 'hash'] as const;
export type Masking = (typeof MASKINGS)[number];

export const REDACTIONS = ['redact', 'drop', 'reference-only'] as const;
export type Redaction = (typeof REDACTIONS)[number];

export type SensitiveMark = {
  readonly kind: 'sensitive';
  readonly category: PiiCategory | Sensitivity;
  readonly sensitivity: Sensitivity;
  readonly masking: Masking;
  readonly redaction: Redaction;
  readonly label?: string;
};
export type SecretMark = {
  readonly kind: 'secret';
  readonly sensitivity: 'secret';
  readonly redaction: Redaction;
  readonly label?: string;
};
export type FieldMark = SensitiveMark | SecretMark;

/** A marked field and where it is: `*` in a path stands for every item of a list or member of a map. */
export type Mark = { readonly path: readonly string[]; readonly field: FieldMark };
