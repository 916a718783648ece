import {
  assembleMessages,
  type CallId,
  callIdOf,
  defineAgent,
  type Message,
  Model,
  type Part,
  type RunControls,
  runControls,
  type ToolResultPart,
  toolCatalogue,
} from '@hexagent/agent-core';
import { codeAssistantTools, INSTRUCTIONS } from '@hexagent/example-code-assistant';
import { answerOf, type ModelAnswer } from './model-answer.ts';

const MAX_STEPS = 24;
const CONVERSATION = ['user-message', 'steering-instruction', 'follow-up'] as const;

/** Does what the standard loop does, by hand: listen, ask the model, run its tools, again. */
export const customCodeAssistant = defineAgent({
  name: 'custom-code-assistant',
  objective: 'Inspect and edit the files of a workspace.',
  needs: { model: Model },
  tools: codeAssistantTools,
  recovery: 'action-boundary',
  accepts: [...CONVERSATION, 'approval-decision', 'cancel'],
  limits: { timeoutMs: 600_000 },
  execute: async function* (_input, context) {
    const { deps, runId, signal } = context;
    const controls = runControls(context);
    const history = await controls.history();
    const messages: Message[] = [said(context.input)];
    for (let step = 1; step <= MAX_STEPS; step += 1) {
      messages.push(...(await heard(controls)));
      const answer = yield* answerOf(
        deps.model,
        {
          messages: assembleMessages({ system: INSTRUCTIONS, history, messages }),
          tools: MODEL_TOOLS,
          toolChoice: 'auto',
          requestId: `${runId}.${step}`,
        },
        { signal },
      );
      if (answer.calls.length > 0) {
        for (const { name } of answer.calls) yield { kind: 'progress', message: `running ${name}` };
        messages.push(...(await carriedOut(controls, { ...answer, answerId: `${runId}.${step}` })));
        continue;
      }
      // Who spoke while the model answered is heard before the end.
      const late = await heard(controls);
      if (late.length === 0) {
        yield { kind: 'final', output: answer.text };
        return;
      }
      messages.push(spoken([{ type: 'text', text: answer.text }]), ...late);
    }
    yield {
      kind: 'error',
      code: 'MAX_STEPS_EXCEEDED',
      message: `The model asked for tools ${MAX_STEPS} times without an answer.`,
      mend: 'Ask for less at once.',
    };
  },
});

const CATALOGUE = toolCatalogue(codeAssistantTools, 'customCodeAssistant.tools');
const MODEL_TOOLS = CATALOGUE.ok ? CATALOGUE.catalogue.modelTools : [];

async function heard(controls: RunControls): Promise<readonly Message[]> {
  const signals = await controls.signals({ kinds: CONVERSATION });
  return signals.map(({ payload }) => said(String(payload.text ?? payload.instruction ?? '')));
}

/** Runs the calls in their order; each has its result, and the message of the model names the same ids. */
async function carriedOut(
  controls: RunControls,
  { text, calls, answerId }: ModelAnswer & { readonly answerId: string },
): Promise<readonly Message[]> {
  const asked: Part[] = text === '' ? [] : [{ type: 'text', text }];
  const results: Message[] = [];
  for (const [index, { name, providerCallId, arguments: read }] of calls.entries()) {
    const input = read.ok ? read.payload : {};
    // Arguments that are no JSON never run: the model is told, and asks again.
    const result = read.ok
      ? await controls.runTool({ name, input })
      : unreadable(callIdOf(`${answerId}.${index}`), read.problem);
    asked.push({
      type: 'tool-call',
      callId: result.callId,
      toolName: name,
      input,
      ...(providerCallId === undefined ? {} : { providerCallId }),
    });
    results.push({ role: 'tool', origin: 'tool', parts: [result] });
  }
  return [spoken(asked), ...results];
}

function unreadable(callId: CallId, problem: string): ToolResultPart {
  const text = `The call did not run: ${problem}`;
  return { type: 'tool-result', callId, outcome: 'error', content: [{ type: 'text', text }] };
}

function said(text: string): Message {
  return { role: 'user', origin: 'user', parts: [{ type: 'text', text }] };
}

function spoken(parts: readonly Part[]): Message {
  return { role: 'assistant', origin: 'model', parts };
}
