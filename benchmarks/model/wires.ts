/** A recorded shape of one provider's stream, with as many text deltas as asked for. */
export type Wire = {
  readonly name: string;
  /** The text of one event, if it has any: what the bare reader looks up. */
  readonly textOf: (event: WireEvent) => string | undefined;
  readonly frames: (deltas: readonly string[]) => readonly string[];
};

/** An event as JSON.parse gives it: each wire knows where its own text is. */
export type WireEvent = {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
  readonly type?: string;
  readonly delta?: string | { readonly text?: string };
};

const frame = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;
type NamedEvent = { readonly type: string; readonly [field: string]: unknown };

const named = (event: NamedEvent): string => `event: ${event.type}\n${frame(event)}`;

export const chatCompletions: Wire = {
  name: 'chat completions',
  textOf: ({ choices }) => choices?.[0]?.delta?.content ?? undefined,
  frames: (deltas) => {
    const head = {
      id: 'chatcmpl-0123456789abcdef',
      object: 'chat.completion.chunk',
      created: 1_760_000_000,
      model: 'bench',
    };
    const chunk = (delta: object, finish_reason: string | null = null): string =>
      frame({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
    const usage = { prompt_tokens: 9, completion_tokens: deltas.length, total_tokens: 9 };
    return [
      chunk({ role: 'assistant', content: '' }),
      ...deltas.map((content) => chunk({ content })),
      chunk({}, 'stop'),
      frame({ ...head, choices: [], usage }),
      'data: [DONE]\n\n',
    ];
  },
};

export const responses: Wire = {
  name: 'responses',
  textOf: ({ type, delta }) =>
    type === 'response.output_text.delta' && typeof delta === 'string' ? delta : undefined,
  frames: (deltas) => {
    const response = {
      id: 'resp_1',
      object: 'response',
      created_at: 1_760_000_000,
      model: 'bench',
    };
    const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const message = { id: 'msg_1', type: 'message', role: 'assistant' } as const;
    const text = deltas.join('');
    const part = { type: 'output_text', text, annotations: [] };
    const done = { ...message, status: 'completed', content: [part] };
    const usage = {
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: deltas.length,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 9 + deltas.length,
    };
    const events = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...message, status: 'in_progress', content: [] },
      },
      { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
      ...deltas.map((delta) => ({
        type: 'response.output_text.delta',
        ...at,
        delta,
        logprobs: [],
        obfuscation: 'Wq3x',
      })),
      { type: 'response.output_text.done', ...at, text, logprobs: [] },
      { type: 'response.content_part.done', ...at, part },
      { type: 'response.output_item.done', output_index: 0, item: done },
      {
        type: 'response.completed',
        response: { ...response, status: 'completed', output: [done], usage },
      },
    ];
    return events.map((event, sequence_number) => named({ ...event, sequence_number }));
  },
};

export const messages: Wire = {
  name: 'messages',
  textOf: ({ type, delta }) =>
    type === 'content_block_delta' && typeof delta === 'object' ? delta.text : undefined,
  frames: (deltas) => {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'bench',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 1 },
    };
    return [
      named({ type: 'message_start', message }),
      named({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'text', text: '' },
      }),
      ...deltas.map((text) =>
        named({
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'text_delta', text },
        }),
      ),
      named({ type: 'content_block_stop', index: 0 }),
      named({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: deltas.length },
      }),
      named({ type: 'message_stop' }),
    ];
  },
};
