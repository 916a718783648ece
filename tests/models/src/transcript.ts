import type { App, Part, RunId } from '@hexagent/agent-core';

/** A run as the next model call sees it, without what differs from run to run: ids and opaque state of providers. */
export async function transcriptOf(app: App, runId: RunId): Promise<readonly string[]> {
  const { messages } = await app.runs.snapshot(runId, app.local('local'));
  return messages.map(({ message }) => `${message.role}: ${message.parts.map(lineOf).join(' | ')}`);
}

function lineOf(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'reasoning':
      return `(${part.text})`;
    case 'data':
      return JSON.stringify(part.data);
    case 'tool-call':
      return `${part.toolName}(${JSON.stringify(part.input)})`;
    case 'tool-result':
      return `${part.outcome}: ${part.content.map(lineOf).join(' ')}`;
    case 'media':
      return `[${part.mediaType}]`;
  }
}
