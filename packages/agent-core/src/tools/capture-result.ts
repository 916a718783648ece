import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { sha256Hex } from '../base/sha256.ts';
import { EVIDENCE_EXPOSURE, type ExposurePolicy } from '../guard/exposure.ts';
import { guardValue } from '../guard/guard-value.ts';
import type { ToolDefinition } from './tool.ts';

/** What `structured` keeps of a result, in characters of its JSON; a larger one is kept as a summary. */
export const STRUCTURED_LIMIT = 8_192;

/**
 * What the evidence of a tool call keeps of the result, by the tool's `evidence`.
 *
 * | capture | kept |
 * |---|---|
 * | `none` | nothing |
 * | `reference-only` | the size and a digest of the guarded result |
 * | `summary` | that, the kind of value, and the names of its members or the number of its items |
 * | `structured` | the guarded result, while it is small; else the summary, with `degraded: true` |
 * | `raw` | the guarded result, whatever its size |
 * | `redacted` | the result with every marked field masked, also those that the policy would show |
 *
 * Evidence is a sink: marked fields are guarded in all of them, and digests are over what may be shown, so that nobody can try
 * values against them.
 */
export function captureResult(
  definition: Pick<ToolDefinition, 'evidence' | 'outputMarks'>,
  value: JsonValue,
  policy: ExposurePolicy = EVIDENCE_EXPOSURE,
): JsonObject {
  const { evidence: capture, outputMarks } = definition;
  if (capture === 'none') return { capture };
  const shown = guardValue(
    value,
    outputMarks,
    capture === 'redacted' ? { ...policy, ...SHOW_NOTHING } : policy,
  );
  switch (capture) {
    case 'reference-only':
      return { capture, ...referenceTo(shown) };
    case 'summary':
      return { capture, ...summaryOf(shown) };
    case 'structured':
      if (JSON.stringify(shown).length <= STRUCTURED_LIMIT) return { capture, result: shown };
      return { capture, degraded: true, ...summaryOf(shown) };
    default:
      return { capture, result: shown };
  }
}

const SHOW_NOTHING = { includePiiValues: false, includeSensitiveValues: false };

function referenceTo(value: JsonValue): JsonObject {
  const text = canonicalJson(value);
  return { characters: text.length, digest: sha256Hex(text) };
}

function summaryOf(value: JsonValue): JsonObject {
  const reference = referenceTo(value);
  if (Array.isArray(value)) return { ...reference, type: 'array', items: value.length };
  if (isJsonObject(value)) return { ...reference, type: 'object', members: Object.keys(value) };
  return { ...reference, type: value === null ? 'null' : typeof value };
}
