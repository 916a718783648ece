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
import { ENTRIES, type Order, REQUEST } from './order.ts';
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
          const { step, text, call } = answerTo(messages, script);
          await reach('model asked', step);
          for (const [index, word] of text.split(/(?<= )/).entries()) {
            yield [{ type: 'text', text: word }];
            if (script === 'slow-stream') await pause(SLOW_MS);
            if (index === 1) await reach('in the model stream', step);
          }
          if (call !== undefined) yield call;
          await reach('model answered', step);
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

type Answer = {
  readonly step: number;
  readonly text: string;
  readonly call: readonly ModelEvent[] | undefined;
};

function answerTo(history: readonly Message[], script: Order['script']): Answer {
  // What was said before in the conversation is another run's.
  const messages = history.slice(history.findLastIndex(({ parts }) => textOf(parts) === REQUEST));
  const results = messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-result' ? [textOf(part.content)] : [])),
  );
  const step = results.length + 1;
  const left = ENTRIES.slice(results.length);
  const entries = script === 'batch' || script === 'cleanups' ? left : left.slice(0, 1);
  if (entries.length > 0) {
    const call = entries.flatMap((entry, index): readonly ModelEvent[] => [
      { type: 'tool-call-start', index, name: 'ledger.write' },
      { type: 'tool-call-delta', index, delta: JSON.stringify({ entry }) },
    ]);
    return { step, text: `Now I write ${entries.join(' and ')} into the ledger.`, call };
  }
  const later = messages
    .filter(({ role, origin }) => role === 'user' && origin === 'user')
    .slice(1);
  const said = later.map(({ parts }) => ` You said: ${textOf(parts)}`).join('');
  const text = `The tool answered: ${results.join(' and ')}.${said}`;
  if (script !== 're-ask') return { step, text, call: undefined };
  const isCorrected = messages.some(
    ({ role, origin }) => role === 'user' && origin === 'framework',
  );
  return { step, text: isCorrected ? JSON.stringify({ answer: text }) : text, call: undefined };
}
