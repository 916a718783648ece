import {
  type AgentModel,
  type AgentYield,
  type ModelRequest,
  type ParsedArguments,
  parseArguments,
  type Stop,
} from '@hexagent/agent-core';

export type AskedCall = {
  readonly name: string;
  readonly providerCallId?: string;
  readonly arguments: ParsedArguments;
};

export type ModelAnswer = { readonly text: string; readonly calls: readonly AskedCall[] };

/** Streams one answer: its words as they come, and in the end all of it. */
export async function* answerOf(
  model: AgentModel,
  request: ModelRequest,
  stop: Stop,
): AsyncGenerator<AgentYield, ModelAnswer, void> {
  let text = '';
  const calls = new Map<number, { name: string; providerCallId?: string; json: string }>();
  for await (const batch of model.stream(request, stop)) {
    for (const event of batch) {
      if (event.type === 'text') {
        text += event.text;
        yield { kind: 'token', text: event.text };
      } else if (event.type === 'tool-call-start') {
        const { index, type: _type, ...call } = event;
        calls.set(index, { ...call, json: '' });
      } else if (event.type === 'tool-call-delta') {
        const call = calls.get(event.index);
        if (call !== undefined) call.json += event.delta;
      }
    }
  }
  return {
    text,
    calls: [...calls.values()].map(({ json, ...call }) => ({
      ...call,
      arguments: parseArguments(json),
    })),
  };
}
