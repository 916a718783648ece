import type { ResumeEntry } from '@ag-ui/core';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Problem,
  parseDecision,
  type Wait,
  type WaitResolution,
} from '@hexagent/agent-core';

/** What a resume entry means for its wait; undefined where it says nothing but "look again". */
export type Reading =
  | { readonly ok: true; readonly resolution: WaitResolution | undefined }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Reads one entry of `resume` as an answer to its wait.
 *
 * - `cancelled` gives the question up, and with it the run: a denial is an answer (`{ approved: false }`);
 * - an approval is `{ approved, editedArgs?, comment? }`, a sign-in or an input its value, an effect in doubt `{ decision, result? }`;
 * - what comes from elsewhere (an event, a point in time) is not a client's to answer: its entry only asks whether it is there.
 */
export function readEntry({ status, payload }: ResumeEntry, wait: Wait): Reading {
  if (status === 'cancelled') return held({ decision: 'cancel' }, wait);
  switch (wait.kind) {
    case 'approval':
      return approval(payload, wait);
    case 'input':
    case 'auth':
      return held({ decision: 'answer', value: jsonOf(payload) }, wait);
    case 'recovery':
      return held(payload, wait);
    case 'event':
    case 'timer':
      return { ok: true, resolution: undefined };
    case 'client-result':
      return refused(
        'is answered by a tool message.',
        `Add { "role": "tool", "toolCallId": "${wait.callId ?? ''}" } to the messages.`,
      );
  }
}

function approval(payload: unknown, wait: Wait): Reading {
  if (!isJsonObject(payload) || typeof payload['approved'] !== 'boolean')
    return refused('has no `approved`.', 'Send { "approved": true } or { "approved": false }.');
  const { approved, editedArgs, comment } = payload;
  const said: JsonObject = comment === undefined ? {} : { comment };
  if (approved === false) return held({ decision: 'reject', ...said }, wait);
  if (editedArgs === undefined || editedArgs === null)
    return held({ decision: 'approve', ...said }, wait);
  return held({ decision: 'modify', input: editedArgs, ...said }, wait);
}

/** Core's own reading of an answer, so that this door takes nothing that another one refuses. */
function held(answer: unknown, wait: Wait): Reading {
  const read = parseDecision(answer, wait);
  return read.ok ? { ok: true, resolution: read.resolution } : read;
}

function refused(seen: string, mend: string): Reading {
  return { ok: false, problems: [{ at: 'payload', seen, mend }] };
}

function jsonOf(payload: JsonValue | undefined): JsonValue {
  return payload === undefined ? null : payload;
}
