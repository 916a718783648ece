import type { ChatMessage, ChatRequest, ChatTool } from './chat-request.ts';

const START = '<|im_start|>';
const END = '<|im_end|>';

/** The prompt in the words that the model was trained on: it knows one system message, its own. */
export function chatPrompt({ messages, tools }: Pick<ChatRequest, 'messages' | 'tools'>): string {
  const turns = messages
    .filter(({ role }) => role !== 'system' && role !== 'developer')
    .map((message) => turn(message.role, message.text + message.calls.map(called).join('')));
  return [turn('system', systemText(tools)), ...turns, `${START}assistant\n`].join('');
}

function turn(role: string, text: string): string {
  return `${START}${role}\n${text}${END}\n`;
}

function systemText(tools: readonly ChatTool[]): string {
  const helpful = 'You are a helpful assistant.';
  return tools.length === 0 ? helpful : `${helpful}\nTools: ${tools.map(signature).join(', ')}`;
}

function signature({ name, parameters }: ChatTool): string {
  const properties = 'properties' in parameters ? parameters.properties : {};
  return `${name}(${Object.keys(properties ?? {}).join(', ')})`;
}

function called({ name, arguments: given }: ChatMessage['calls'][number]): string {
  return `<tool_call>{"name":"${name}","arguments":${given}}</tool_call>`;
}
