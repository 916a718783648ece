import type { Grant } from '../approvals/grant.ts';
import type { AgentError } from '../base/error.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Call } from '../durable/call.ts';
import type { ValueWrite } from '../durable/value-store.ts';
import type { Resolution, Tool } from '../tools/tool.ts';
import type { ToolResultPart } from '../vocabulary/message.ts';
import type { WaitRecord, WaitResolution } from '../vocabulary/wait.ts';

/** Why a call does not run at all: a result that the model reads. `fatal`: it ends the run as soon as it is on record. */
export type Refusal = Pick<ToolResultPart, 'outcome' | 'content'> & { readonly fatal?: AgentError };

/** A call of the current batch, as its owner holds it: everything plain. */
export type OpenCall = {
  /** The ledger row; `input` and `carry` are plain. */
  call: Call;
  /** The newest approval that was asked for before the call was read from the store. */
  readonly asked?: WaitRecord | undefined;
  /** What the model sent, or a human edited. */
  input: JsonObject;
  tool: Tool | undefined;
  /** Set when it will not run. */
  refusal: Refusal | undefined;
  /** The definition has changed, and its arguments do not fit any more: what the model reads instead. */
  unfit?: Refusal | undefined;
  /** The newest wait of this call, if it ever waited. */
  wait: WaitRecord | undefined;
  /** How many waits this call has had: ids count. */
  waits: number;
  /** The answer that it goes on with, read and not yet used. */
  answer: WaitResolution | undefined;
  /** The approval is to hold for later calls: written when the answer is used. */
  remembered?: { readonly grant: Grant; readonly write: ValueWrite } | undefined;
  /** What a suspended call kept. */
  carry: JsonValue | undefined;
  /** How the wait of a suspended call ended, once it has: kept through every later question about the call. */
  resolution: Resolution | undefined;
  /** A person has changed its arguments. */
  edited: boolean;
  /** The result message is on its way to the store, or stored. */
  settled: boolean;
  /** The attempt whose `started` mark is known to be stored. */
  committed: number;
  /** Running in this process. */
  running: boolean;
  /** A result that is known and not yet recorded. */
  result: ToolResultPart | undefined;
};

/** A call as it stands on the ledger, with nothing known of it yet. */
export function newOpenCall(
  call: Call,
  { input, tool }: Pick<OpenCall, 'input' | 'tool'>,
): OpenCall {
  return {
    call,
    input,
    tool,
    refusal: undefined,
    wait: undefined,
    waits: 0,
    answer: undefined,
    carry: undefined,
    resolution: undefined,
    edited: false,
    settled: false,
    committed: 0,
    running: false,
    result: undefined,
  };
}

/** Effects keep the order of the batch; reads and tools that say `concurrent` do not. */
export function keepsOrder({ tool, refusal }: OpenCall): boolean {
  if (tool === undefined || refusal !== undefined || tool.runs !== 'here') return false;
  const { effects, concurrent } = tool.definition;
  return (
    !concurrent &&
    (effects.access === 'write' || effects.access === 'read-write' || effects.destructive)
  );
}
