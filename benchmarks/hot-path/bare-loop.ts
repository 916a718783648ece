import { type Contender, lookUp, PROMPT, type Script, SYSTEM, TOOL } from './script.ts';

type Call = { readonly id: string; readonly name: string; readonly arguments: string };
type Message = {
  readonly role: string;
  readonly content: string;
  readonly calls?: readonly Call[];
  readonly callId?: string;
};
type Spoken =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly call: Call };
type Shown = Spoken | { readonly type: 'result'; readonly result: Message };

/**
 * The loop that one writes by hand: async generators, an event at a time. It assembles the text, parses and
 * checks arguments, runs tools, and keeps the messages; it has no ids, numbers, steps, limits, usage or abort.
 */
export function bareLoop(script: Script): Contender {
  const turns = script.map(({ deltas, queries }, at): readonly Spoken[] => [
    ...deltas.map((text) => ({ type: 'text', text }) as const),
    ...queries.map((query, n) => {
      const call = { id: `call_${at}_${n}`, name: TOOL, arguments: JSON.stringify({ query }) };
      return { type: 'call', call } as const;
    }),
  ]);

  async function* model(messages: readonly Message[]): AsyncGenerator<Spoken> {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    yield* turns[turn] ?? [];
  }

  async function* loop(messages: Message[]): AsyncGenerator<Shown> {
    for (;;) {
      let content = '';
      const calls: Call[] = [];
      for await (const event of model(messages)) {
        if (event.type === 'text') content += event.text;
        else calls.push(event.call);
        yield event;
      }
      messages.push({ role: 'assistant', content, ...(calls.length > 0 ? { calls } : {}) });
      if (calls.length === 0) return;
      for (const result of await Promise.all(calls.map(resultOf))) {
        messages.push(result);
        yield { type: 'result', result };
      }
    }
  }

  return {
    async play() {
      let deltas = 0;
      let characters = 0;
      let results = 0;
      const messages: Message[] = [
        { role: 'system', content: SYSTEM },
        { role: 'user', content: PROMPT },
      ];
      for await (const event of loop(messages)) {
        if (event.type === 'text') {
          deltas += 1;
          characters += event.text.length;
        } else if (event.type === 'result') results += 1;
      }
      return { deltas, characters, results };
    },
    close: async () => {},
  };
}

async function resultOf(call: Call): Promise<Message> {
  const { query } = JSON.parse(call.arguments);
  if (typeof query !== 'string') throw new Error(`${call.name}: the query must be a string.`);
  return { role: 'tool', content: JSON.stringify(await lookUp(query)), callId: call.id };
}
