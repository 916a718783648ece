import { AgentError } from '../base/error.ts';
import type { ProviderFault } from './provider-fault.ts';

/** What is known about a request that did not fit; tokens. */
export type ContextOverflow = {
  readonly kind: 'context-overflow';
  readonly window?: number;
  readonly inputTokens?: number;
  /** The output that was asked for. */
  readonly outputTokens?: number;
  /** False when the server only says "at least": then `inputTokens` is not the size of the prompt. */
  readonly isExact: boolean;
};

const WORDS =
  /maximum context length|context length|context size|context window|context the overflows|prompt is too long|too many tokens|exceed context limit|exceeds? the (available )?context|input length/i;
/** Asks for more output than the window holds: the mend is a smaller number, not a shorter conversation. */
const OUTPUT_ONLY = /cannot be greater than max_model_len/i;
const CODES: readonly string[] = ['context_length_exceeded'];
const TYPES: readonly string[] = ['exceed_context_size_error', 'context_exceeded'];
const PARAMS: readonly string[] = ['input_tokens', 'input_text'];
/** Statuses under which the words above speak of the prompt; 200 is an error frame inside a stream. */
const STATUSES: readonly number[] = [200, 400, 413, 422, 500];

/** Recognises a context overflow in the words of the common servers; undefined when it is something else. */
export function contextOverflow(fault: ProviderFault, status: number): ContextOverflow | undefined {
  const { message, code = '', type = '', param = '' } = fault;
  if (OUTPUT_ONLY.test(message)) return undefined;
  const isSaid =
    CODES.includes(code) ||
    CODES.includes(type) ||
    TYPES.includes(type) ||
    (STATUSES.includes(status) && (PARAMS.includes(param) || WORDS.test(message)));
  return isSaid ? numbersOf(fault) : undefined;
}

/** The numbers of a `MODEL_CONTEXT_OVERFLOW` error, where its adapter knew them. */
export function overflowOf(error: unknown): ContextOverflow | undefined {
  if (!AgentError.is(error) || error.code !== 'MODEL_CONTEXT_OVERFLOW') return undefined;
  return isOverflow(error.cause) ? error.cause : undefined;
}

function isOverflow(value: unknown): value is ContextOverflow {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    value.kind === 'context-overflow'
  );
}

type Pattern = {
  readonly words: RegExp;
  readonly fields: readonly ('window' | 'inputTokens' | 'outputTokens')[];
};

const PATTERNS: readonly Pattern[] = [
  {
    words: /maximum context length is (\d+).*?requested (\d+) output.*?upper bound for (\d+)/s,
    fields: ['window', 'outputTokens', 'inputTokens'],
  },
  {
    words:
      /maximum context length is (\d+).*?requested (\d+) output.*?contains (?:at least )?(\d+)/s,
    fields: ['window', 'outputTokens', 'inputTokens'],
  },
  {
    words: /passed (\d+) input tokens.*?requested (\d+) output.*?length is only (\d+)/s,
    fields: ['inputTokens', 'outputTokens', 'window'],
  },
  {
    words: /maximum context length is (\d+).*?\((\d+) in the messages, (\d+) in the completion\)/s,
    fields: ['window', 'inputTokens', 'outputTokens'],
  },
  { words: /(\d+) tokens?\).*?length \((\d+)/s, fields: ['inputTokens', 'window'] },
  { words: /(\d+) \+ (\d+) > (\d+)/, fields: ['inputTokens', 'outputTokens', 'window'] },
  { words: /(\d+) tokens > (\d+)/, fields: ['inputTokens', 'window'] },
  { words: /maximum context length is (\d+)/, fields: ['window'] },
];

function numbersOf(fault: ProviderFault): ContextOverflow {
  const found: { window?: number; inputTokens?: number; outputTokens?: number } = {};
  const pattern = PATTERNS.find(({ words }) => words.test(fault.message));
  const match = pattern?.words.exec(fault.message);
  pattern?.fields.forEach((field, index) => {
    found[field] = Number(match?.[index + 1]);
  });
  if (fault.promptTokens !== undefined) found.inputTokens = fault.promptTokens;
  if (fault.window !== undefined) found.window = fault.window;
  const isBound = /at least|upper bound/.test(fault.message);
  return {
    kind: 'context-overflow',
    ...found,
    isExact: found.inputTokens !== undefined && !isBound,
  };
}
