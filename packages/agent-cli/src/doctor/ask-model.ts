import { randomUUID } from 'node:crypto';
import { type AgentModel, linked } from '@hexagent/agent-core';
import { type Check, checked } from './check.ts';

const TIMEOUT_MS = 60_000;

/** One small request: server, key and model name are right when it is answered. */
export function askModel(
  model: AgentModel,
  { signal }: { readonly signal: AbortSignal },
): Promise<Check> {
  return checked({ subject: 'model', name: `${model.id} answers` }, async () => {
    const asking = linked(signal);
    const timer = setTimeout(
      () => asking.abort(new Error(`There was no answer in ${TIMEOUT_MS / 1000} seconds.`)),
      TIMEOUT_MS,
    );
    try {
      return await answerOf(model, asking.signal);
    } finally {
      clearTimeout(timer);
      asking.release();
    }
  });
}

async function answerOf(model: AgentModel, signal: AbortSignal): Promise<string> {
  const batches = model.stream(
    {
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'Say OK.' }], origin: 'user' }],
      tools: [],
      toolChoice: 'none',
      sampling: { maxTokens: 16 },
      requestId: randomUUID(),
    },
    { signal },
  );
  for await (const batch of batches) {
    const finish = batch.find(({ type }) => type === 'finish');
    if (finish?.type === 'finish') return `${finish.model}, finish ${finish.reason}`;
  }
  throw new Error('The answer ended without a finish.');
}
