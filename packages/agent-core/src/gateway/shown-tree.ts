import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Call } from '../durable/call.ts';
import type { RunTree } from '../durable/run-records.ts';
import { CONTEXT_EXPOSURE } from '../guard/exposure.ts';
import { guardValue } from '../guard/guard-value.ts';
import { type ValueGuard, valueGuard } from '../guard/value-guard.ts';
import { catalogueOf } from '../runner/accept-run.ts';
import { shownWait } from '../runner/call-ledger.ts';
import { opened } from '../runner/keeping.ts';
import { shownInput } from '../runner/shown-input.ts';
import type { ToolCatalogue } from '../tools/catalogue.ts';
import type { Message, Part, ToolResultPart } from '../vocabulary/message.ts';
import type { RunInput } from '../vocabulary/run-input.ts';
import type { RunState } from '../vocabulary/state.ts';
import type { Wait } from '../vocabulary/wait.ts';
import type { GatewayParts } from './drive.ts';

/**
 * A call on the ledger, as it may be shown. Its arguments are masked by their marks; they are left out when the tool is not
 * known here, since then nobody can say what is marked.
 */
export type LedgerCall = Omit<Call, 'input' | 'carry' | 'remote'> & {
  readonly input?: JsonObject;
  /** The questions about it, in their order. */
  readonly waits: readonly Wait[];
};

/** A message of a run, as it may be shown: marked values masked wherever they appear. */
export type ShownMessage = {
  readonly messageId: string;
  readonly seq: number;
  readonly message: Message;
  /** It stands for the messages of this range. */
  readonly replaces?: readonly [from: number, to: number];
};

/** A run tree as it may be shown. */
export type ShownTree = {
  /** With marked values masked in their shared state, which is left out when nobody can tell what is marked. */
  readonly runs: readonly RunState[];
  readonly calls: readonly LedgerCall[];
  readonly messages: readonly ShownMessage[];
};

/** A run as its tree has it, which may be younger than what is in hand. */
export function runIn(runs: readonly RunState[], run: RunState): RunState {
  /* v8 ignore next -- a tree holds the run that it was loaded for */
  return runs.find(({ runId }) => runId === run.runId) ?? run;
}

/** What stands in place of what cannot be masked. */
const WITHHELD: Part = {
  type: 'text',
  text: '[withheld: the tool that this came from is not known here]',
};

/** Opens what is stored of a run and masks it as its events were masked. */
export async function shownTree(
  parts: Pick<GatewayParts, 'setup' | 'agents'>,
  tree: RunTree,
): Promise<ShownTree> {
  const record = await openedTree(parts, tree);
  const masking = maskingOf(record);
  const { sealer } = parts.setup;
  const messages: ShownMessage[] = [];
  for (const { runId, seq, message, replaces } of tree.messages) {
    const messageId = `${runId}.m${seq}`;
    const plain = await opened(message, { sealer, boundTo: messageId });
    messages.push({
      messageId,
      seq,
      message: shownMessage(plain, masking),
      ...(replaces === undefined ? {} : { replaces }),
    });
  }
  const runs = tree.runs.map((run) => ({ ...run, shared: shownShared(run.shared, masking) }));
  return { runs, messages, calls: record.calls.map((call) => ledgerCall(call, { tree, masking })) };
}

function shownShared(shared: JsonObject, { guard, isComplete }: Masking): JsonObject {
  return isComplete ? guard.json(shared) : {};
}

type OpenedCall = { readonly call: Call; readonly input: JsonObject };

type OpenedTree = {
  readonly calls: readonly OpenedCall[];
  readonly results: ReadonlyMap<string, ToolResultPart>;
  readonly catalogue: ToolCatalogue | undefined;
};

async function openedTree(
  { setup, agents }: Pick<GatewayParts, 'setup' | 'agents'>,
  tree: RunTree,
): Promise<OpenedTree> {
  const { sealer } = setup;
  const calls: OpenedCall[] = [];
  for (const call of tree.calls)
    calls.push({
      call,
      input: await opened(call.input, { sealer, boundTo: `${call.callId}/input` }),
    });
  const results = new Map<string, ToolResultPart>();
  for (const { runId, seq, message } of tree.messages) {
    const { parts } = await opened(message, { sealer, boundTo: `${runId}.m${seq}` });
    for (const part of parts) if (part.type === 'tool-result') results.set(part.callId, part);
  }
  const [root] = tree.runs;
  const definition = root === undefined ? undefined : agents.get(root.agent);
  if (root === undefined || definition === undefined)
    return { calls, results, catalogue: undefined };
  const input = (await opened(tree.input, {
    sealer,
    boundTo: `${root.rootRunId}/input`,
  })) as unknown as RunInput;
  return { calls, results, catalogue: catalogueOf({ definition, input }) };
}

/** What sinks of this run must not show, as far as the tools are known here. */
type Masking = {
  readonly catalogue: ToolCatalogue | undefined;
  readonly guard: ValueGuard;
  readonly tools: ReadonlyMap<string, string>;
  /** False when a tool is not known: texts may repeat what it gave, and nobody can tell where. */
  readonly isComplete: boolean;
};

function maskingOf({ calls, results, catalogue }: OpenedTree): Masking {
  const guard = valueGuard();
  let isComplete = true;
  for (const { call, input } of calls) {
    // The body of a custom `execute` is no tool: it has neither arguments nor a result.
    if (call.step === 0) continue;
    const tool = catalogue?.get(call.toolName);
    if (tool === undefined) {
      // What the model made up ran nowhere and gave nothing.
      if (call.attempt > 0 || call.stage === 'suspended') isComplete = false;
      continue;
    }
    guard.learn(input, tool.definition.inputMarks);
    if (tool.definition.outputMarks.length === 0) continue;
    for (const value of valuesIn(results.get(call.callId))) {
      if (value === undefined) isComplete = false;
      else guard.learn(value, tool.definition.outputMarks);
    }
  }
  const tools = new Map(calls.map(({ call }) => [String(call.callId), call.toolName]));
  return { catalogue, guard, tools, isComplete };
}

const CUT = /\n\[cut: the first \d+ of \d+ bytes\]$/;

/** The values that a result of a tool was made of; undefined for one that was cut: it cannot be taken apart any more. */
function valuesIn(result: ToolResultPart | undefined): readonly (JsonValue | undefined)[] {
  if (result?.outcome !== 'ok') return [];
  return result.content.map((part) => {
    if (part.type === 'data') return part.data;
    return part.type === 'text' && !CUT.test(part.text) ? part.text : undefined;
  });
}

function ledgerCall(
  { call, input }: OpenedCall,
  { tree, masking }: { readonly tree: RunTree; readonly masking: Masking },
): LedgerCall {
  const { input: _input, carry: _carry, remote: _remote, ...row } = call;
  const tool = masking.catalogue?.get(call.toolName);
  return {
    ...row,
    ...(tool === undefined ? {} : { input: masking.guard.json(shownInput(tool, input)) }),
    waits: tree.waits.filter(({ callId }) => callId === call.callId).map(shownWait),
  };
}

function shownMessage(message: Message, masking: Masking): Message {
  return { ...message, parts: message.parts.map((part) => shownPart(part, masking)) };
}

function shownPart(part: Part, masking: Masking): Part {
  const { catalogue, guard, tools, isComplete } = masking;
  switch (part.type) {
    case 'tool-call': {
      const tool = catalogue?.get(part.toolName);
      const { provider: _opaque, ...call } = part;
      return {
        ...call,
        input: tool === undefined ? {} : guard.json(shownInput(tool, part.input)),
      };
    }
    case 'tool-result': {
      const tool = catalogue?.get(tools.get(part.callId) ?? '');
      return { ...part, content: part.content.map((one) => shownResult(one, { tool, masking })) };
    }
    case 'reasoning':
      return isComplete ? { type: 'reasoning', text: guard.text(part.text) } : WITHHELD;
    default:
      return isComplete ? guard.contents(part) : WITHHELD;
  }
}

function shownResult(
  part: Part,
  {
    tool,
    masking,
  }: {
    readonly tool: ReturnType<ToolCatalogue['get']>;
    readonly masking: Masking;
  },
): Part {
  if (tool === undefined || !masking.isComplete) return WITHHELD;
  const { outputMarks } = tool.definition;
  return masking.guard.contents(
    part.type === 'data' && outputMarks.length > 0
      ? { ...part, data: guardValue(part.data, outputMarks, CONTEXT_EXPOSURE) }
      : part,
  );
}
