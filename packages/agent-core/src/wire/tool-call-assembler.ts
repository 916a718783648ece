import type { JsonValue } from '../base/json.ts';
import type { FINISH_REASONS, ModelEvent } from '../model/agent-model.ts';
import { parseJson } from './parse-json.ts';

type FinishReason = (typeof FINISH_REASONS)[number];

/** A piece of a tool call as it came; every field may be missing, null or empty. */
export type ToolCallDelta = {
  readonly index?: number | null;
  readonly id?: string | null;
  /** The name on the wire. */
  readonly name?: string | null;
  /** A piece of JSON text; some servers send the whole object. */
  readonly arguments?: JsonValue;
};

export type ToolCallEnd = {
  readonly reason: FinishReason;
  /** Calls that never got a name: nothing was shown of them, and the answer is not usable. */
  readonly unnamed: number;
};

/** Turns the pieces of one response into neutral events with indexes of their own, dense from 0. */
export interface ToolCallAssembler {
  /** Adds what the piece makes known to `sink`. */
  accept(delta: ToolCallDelta, sink: ModelEvent[]): void;
  /** Adds what was held back, and says how the response really ended. */
  finish(reason: FinishReason, sink: ModelEvent[]): ToolCallEnd;
}

type OpenCall = {
  readonly wireIndex: number | undefined;
  id: string | undefined;
  name: string | undefined;
  /** Its index in the events; undefined until its name is known. */
  index: number | undefined;
  text: string;
  /** How much of `text` was shown. Only text that begins with `{` is shown before its end. */
  shown: number;
};

/**
 * An assembler for one response. What servers do, and how it is read:
 *
 * - a call is found by its index, but another id on a used index is another call; without an index
 *   by its id, else it is the last one;
 * - without ids, a named piece after complete arguments is another call;
 * - id and name replace, arguments append; null and empty mean nothing new;
 * - an object is its text; text in a JSON string is decoded once; none at all is `{}`;
 * - arguments that do not parse make the response one of `length`: it was cut, whatever it says;
 * - calls and `stop` together are `tool-calls`.
 */
export function toolCallAssembler(options: {
  /** The application's name of a wire name. */
  readonly toName: (wire: string) => string;
}): ToolCallAssembler {
  const calls: OpenCall[] = [];
  let last: OpenCall | undefined;
  let started = 0;

  const open = (wireIndex: number | undefined): OpenCall => {
    const call = {
      wireIndex,
      id: undefined,
      name: undefined,
      index: undefined,
      text: '',
      shown: 0,
    };
    calls.push(call);
    return call;
  };

  return {
    accept(delta, sink) {
      const id = said(delta.id);
      const name = said(delta.name);
      const index = delta.index ?? undefined;
      const text = textOfArguments(delta.arguments);
      const call = callOf(calls, { index, id, name, text, last }) ?? open(index);
      last = call;
      call.id = id ?? call.id;
      call.name = name ?? call.name;
      call.text += text;
      if (call.name === undefined) return;
      if (call.index === undefined) {
        call.index = started;
        started += 1;
        sink.push({
          type: 'tool-call-start',
          index: call.index,
          ...(call.id === undefined ? {} : { providerCallId: call.id }),
          name: options.toName(call.name),
        });
      }
      if (call.text.length > call.shown && isObjectText(call)) {
        const delta = call.text.slice(call.shown);
        sink.push({ type: 'tool-call-delta', index: call.index, delta });
        call.shown = call.text.length;
      }
    },

    finish(reason, sink) {
      let unnamed = 0;
      let cut = false;
      for (const call of calls) {
        if (call.index === undefined) unnamed += 1;
        else if (!complete(call.index, call, sink)) cut = true;
      }
      if (reason !== 'stop' && reason !== 'tool-calls') return { reason, unnamed };
      if (cut) return { reason: 'length', unnamed };
      return { reason: started > 0 ? 'tool-calls' : 'stop', unnamed };
    },
  };
}

function said(value: string | null | undefined): string | undefined {
  return value === '' ? undefined : (value ?? undefined);
}

function textOfArguments(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function callOf(
  calls: readonly OpenCall[],
  delta: {
    readonly index: number | undefined;
    readonly id: string | undefined;
    readonly name: string | undefined;
    readonly text: string;
    readonly last: OpenCall | undefined;
  },
): OpenCall | undefined {
  const { index, id, name, text, last } = delta;
  const found =
    index !== undefined
      ? calls.findLast(
          (call) => call.wireIndex === index && (!id || call.id === undefined || call.id === id),
        )
      : id !== undefined
        ? calls.find((call) => call.id === id)
        : last;
  if (found === undefined || id !== undefined || found.id !== undefined) return found;
  const isAnother = name !== undefined && text !== '' && isComplete(found.text);
  return isAnother ? undefined : found;
}

function isComplete(text: string): boolean {
  return text.trim() !== '' && parseJson(text) !== undefined;
}

function isObjectText(call: OpenCall): boolean {
  return call.shown > 0 || call.text.trimStart().startsWith('{');
}

/** Shows the arguments that were held back; false when they do not parse. */
function complete(index: number, call: OpenCall, sink: ModelEvent[]): boolean {
  if (call.shown > 0) return parseJson(call.text) !== undefined;
  const value = call.text.trim() === '' ? null : parseJson(call.text);
  const inner = typeof value === 'string' ? innerOf(value) : value;
  if (inner === undefined) return false;
  sink.push({ type: 'tool-call-delta', index, delta: JSON.stringify(inner ?? {}) });
  return true;
}

function innerOf(text: string): JsonValue | undefined {
  return text.trim() === '' ? null : parseJson(text);
}
