import {
  type EvidenceRow,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@hexagent/agent-core';

/** One row of evidence on one line: what happened, and the seal. */
export function evidenceLine({ seq, kind, hash, payload = {} }: EvidenceRow): string {
  const number = String(seq).padStart(3);
  return `${number}  ${hash.slice(0, 12)}  ${kind.padEnd(16)} ${summary(kind, payload)}`.trimEnd();
}

function summary(kind: EvidenceRow['kind'], payload: JsonObject): string {
  const { metadata } = payload;
  const about = isJsonObject(metadata) ? metadata : payload;
  const tool = word(about.toolName);
  switch (kind) {
    case 'action-boundary':
      return [word(payload.stage), word(payload.actionKind), tool, word(about.outcome)]
        .filter(Boolean)
        .join(' ');
    case 'model':
      return [word(payload.finish), ...toolsIn(payload.calls)].join(' ');
    case 'tool':
      return `${word(payload.outcome)}, attempt ${word(payload.attempt)}`;
    case 'approval':
      return `${word(payload.decision)} by ${word(payload.by)}`;
    case 'signal':
      return word(payload.kind);
    default:
      return '';
  }
}

function toolsIn(calls: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(calls)) return [];
  return calls.filter(isJsonObject).map(({ toolName }) => word(toolName));
}

function word(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
