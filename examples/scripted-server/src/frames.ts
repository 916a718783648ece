import type { Reply } from './serve-model.ts';

type Delta = Readonly<Record<string, unknown>>;

/**
 * The chunks of a streamed answer: words, calls whose arguments come in two pieces, the end, the usage.
 *
 * @param number of the answer, so that no two calls share an id
 */
export function frames({ text = '', calls = [] }: Reply, number: number): readonly unknown[] {
  const words = text === '' ? [] : text.split(/(?<=\s)/);
  return [
    chunk({ role: 'assistant', content: '' }),
    ...words.map((content) => chunk({ content })),
    ...calls.flatMap(({ name, input }, index) => {
      const json = JSON.stringify(input);
      const half = Math.ceil(json.length / 2);
      const first = { index, id: `call_${number}_${index}`, type: 'function' };
      return [
        chunk({ tool_calls: [{ ...first, function: { name, arguments: json.slice(0, half) } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: json.slice(half) } }] }),
      ];
    }),
    chunk({}, calls.length === 0 ? 'stop' : 'tool_calls'),
    {
      ...envelope,
      choices: [],
      usage: {
        prompt_tokens: 20,
        completion_tokens: words.length,
        total_tokens: 20 + words.length,
      },
    },
  ];
}

const envelope = { id: 'scripted', object: 'chat.completion.chunk', created: 0, model: 'scripted' };

function chunk(delta: Delta, finish: string | null = null): unknown {
  return { ...envelope, choices: [{ index: 0, delta, finish_reason: finish }] };
}
