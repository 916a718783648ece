import type { Message } from '../vocabulary/message.ts';

/**
 * The messages of a request: the system message, then what was said before, then the messages of this
 * run. A building block; nothing is copied but the list.
 */
export function assembleMessages(parts: {
  readonly system: string;
  readonly history?: readonly Message[];
  readonly messages: readonly Message[];
}): readonly Message[] {
  const system: Message = {
    role: 'system',
    origin: 'framework',
    parts: [{ type: 'text', text: parts.system }],
  };
  return [system, ...(parts.history ?? []), ...parts.messages];
}
