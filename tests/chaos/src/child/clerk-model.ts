import { setTimeout as pause } from 'node:timers/promises';
import {
  bind,
  definePlugin,
  type Message,
  Model,
  type ModelEvent,
  type Plugin,
  textOf,
} from '@hexagent/agent-core';
import { ENTRIES, type Order } from './order.ts';
import type { Reach } from './points.ts';

/** Between two deltas of a slow stream: long enough for a flush. */
const SLOW_MS = 40;

/** Calls the tool for each entry, then says what was written. It keeps nothing: what it answers is in the messages. */
export function clerkModel({ script }: Order, reach: Reach): Plugin {
  return definePlugin<Record<string, never>>({
    manifest: {
      name: 'clerk-model',
      version: '0.0.0',
      contract: 1,
      contributes: [Model],
      requires: [],
      options: { type: 'object' },
    },
    setup: () => [
      bind(Model, {
        id: 'clerk-model',
        capabilities: () => ({
          tools: true,
          reasoning: false,
          structuredOutput: 'none',
          inputModalities: ['text'],
        }),
        async *stream({ messages }) {
          await reach('model asked');
          const { text, call } = answerTo(messages, script);
          for (const [index, word] of text.split(/(?<= )/).entries()) {
            yield [{ type: 'text', text: word }];
            if (script === 'slow-stream') await pause(SLOW_MS);
            if (index === 1) await reach('in the model stream');
          }
          if (call !== undefined) yield call;
          await reach('model answered');
          yield [
            {
              type: 'finish',
              reason: call === undefined ? 'stop' : 'tool-calls',
              usage: { outputTokens: 5 },
              model: 'clerk-model',
            },
          ];
        },
      }),
    ],
  })({});
}

type Answer = { readonly text: string; readonly call: readonly ModelEvent[] | undefined };

function answerTo(messages: readonly Message[], script: Order['script']): Answer {
  const results = messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-result' ? [textOf(part.content)] : [])),
  );
  const entry = ENTRIES[results.length];
  if (entry !== undefined) {
    const call: readonly ModelEvent[] = [
      { type: 'tool-call-start', index: 0, name: 'ledger.write' },
      { type: 'tool-call-delta', index: 0, delta: JSON.stringify({ entry }) },
    ];
    return { text: `Now I write ${entry} into the ledger.`, call };
  }
  const later = messages
    .filter(({ role, origin }) => role === 'user' && origin === 'user')
    .slice(1);
  const said = later.map(({ parts }) => ` You said: ${textOf(parts)}`).join('');
  const text = `The tool answered: ${results.join(' and ')}.${said}`;
  if (script !== 're-ask') return { text, call: undefined };
  const isCorrected = messages.some(
    ({ role, origin }) => role === 'user' && origin === 'framework',
  );
  return { text: isCorrected ? JSON.stringify({ answer: text }) : text, call: undefined };
}
