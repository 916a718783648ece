import type { Interrupt } from '@ag-ui/core';
import { isJsonObject, type JsonObject, type RunId, type Wait } from '@hexagent/agent-core';
import { attributed } from './attribution.ts';

/** The waits that a client answers by a tool message, not by `resume`: its own tools. */
export function isFrontendCall({ kind }: Pick<Wait, 'kind'>): boolean {
  return kind === 'client-result';
}

/** The interrupt that stands for a run which a person has paused: it waits for nothing but a word. One for each pause, by its event. */
export function holdId(rootRunId: string, seq: number): string {
  return `${rootRunId}.hold-${seq}`;
}

/** The number of the pause that an interrupt is about; undefined when it is one of another kind. */
export function heldAt(interruptId: string): number | undefined {
  const seq = Number(/\.hold-(\d+)$/.exec(interruptId)?.[1] ?? Number.NaN);
  return Number.isSafeInteger(seq) ? seq : undefined;
}

/** A run that rests without a question was held by a `pause` signal. */
export function holdInterrupt(rootRunId: RunId, seq: number): Interrupt {
  return {
    id: holdId(rootRunId, seq),
    reason: 'hexagent:held',
    message: 'The run was paused.',
    responseSchema: {},
  };
}

/** A wait as an interrupt: its id is the wait's, so an answer is bound to one question about one set of arguments. */
export function interruptOf(wait: Wait): Interrupt {
  const { message, schema: _schema, ...shown } = wait.prompt;
  const words = typeof message === 'string' ? { message } : {};
  return {
    id: wait.id,
    ...attributed(wait.runId === wait.rootRunId ? undefined : wait.runId),
    ...asked(wait),
    ...words,
    responseSchema: responseSchema(wait),
    ...(wait.expiresAt === undefined ? {} : { expiresAt: new Date(wait.expiresAt).toISOString() }),
    metadata: { hexagent: { kind: wait.kind, allowed: [...wait.allowed], prompt: { ...shown } } },
  };
}

function asked({ kind, callId, prompt }: Wait): Pick<Interrupt, 'reason' | 'toolCallId'> {
  switch (kind) {
    case 'approval':
      return isShown(callId) && typeof prompt['tool'] === 'string'
        ? { reason: 'tool_call', toolCallId: String(callId) }
        : { reason: 'confirmation' };
    case 'input':
      return { reason: 'input_required', ...toolOf(callId) };
    default:
      return { reason: `hexagent:${kind}`, ...toolOf(callId) };
  }
}

function toolOf(callId: Wait['callId']): { readonly toolCallId?: string } {
  return isShown(callId) ? { toolCallId: String(callId) } : {};
}

/** The body of a custom loop is call 0 of its run: it is on the ledger and never in a stream. */
function isShown(callId: Wait['callId']): boolean {
  return callId !== undefined && !isBodyCall(callId);
}

/** True for a call that no model has asked for. */
export function isBodyCall(callId: string): boolean {
  return /\.0\.\d+$/.test(callId);
}

/** The body of a custom loop asks while it goes on: its run does not pause for it. */
export function asksInPlace({ callId }: Pick<Wait, 'callId'>): boolean {
  return callId !== undefined && isBodyCall(callId);
}

const COMMENT = { type: 'string', description: 'Why; the model reads it with a rejection.' };

function responseSchema({ kind, prompt, allowed }: Wait): JsonObject {
  switch (kind) {
    case 'approval': {
      const properties: Record<string, JsonObject> = {
        approved: { type: 'boolean' },
        comment: COMMENT,
      };
      if (allowed.includes('modify'))
        properties['editedArgs'] = {
          type: 'object',
          description: 'In place of all arguments; they are checked again.',
        };
      return { type: 'object', properties, required: ['approved'] };
    }
    case 'input':
      return isJsonObject(prompt['schema']) ? prompt['schema'] : {};
    case 'recovery': {
      const decisions = allowed.filter((decision) => decision !== 'cancel');
      const decision = { type: 'string', enum: [...decisions] };
      return {
        type: 'object',
        properties: { decision, result: { description: 'With "happened".' }, comment: COMMENT },
        required: ['decision'],
      };
    }
    default:
      return {};
  }
}
