import { isJsonObject, type JsonValue } from '../base/json.ts';

export type Redaction = {
  /** Texts that are replaced wherever they stand. */
  readonly secrets?: readonly string[];
  /** Names of fields whose values are replaced in arguments and data, beside those that sound like secrets. */
  readonly keys?: readonly string[];
};

export const REDACTED = '[redacted]';

const SECRET_KEY =
  /^(authorization|cookie|password|passwd|passphrase|credentials?|.*(api|access|private)[-_]?key|.*secret|.*token)$/i;

export type Redactor = {
  text(text: string): string;
  /** Secrets in every text, and the values of secret fields. */
  data(value: JsonValue): JsonValue;
};

/** Takes secrets out of what is kept. The same options give the same result. */
export function redactor({ secrets = [], keys = [] }: Redaction): Redactor {
  // The longest first: one secret may be the beginning of another.
  const known = secrets.filter((secret) => secret !== '').sort((a, b) => b.length - a.length);
  const names = new Set(keys.map((key) => key.toLowerCase()));
  const text = (given: string): string =>
    known.reduce((kept, secret) => kept.replaceAll(secret, REDACTED), given);
  const isSecret = (key: string): boolean => SECRET_KEY.test(key) || names.has(key.toLowerCase());
  const data = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(data);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        isSecret(key) && item !== null ? REDACTED : data(item as JsonValue),
      ]),
    );
  };
  return { text, data };
}
