import { isJsonObject, modelResponseInvalid, parseJson } from '@hexagent/agent-core/adapter';
import type { ServerConnection } from './server-connection.ts';
import type { ServerProfile } from './server-profile.ts';

export type TokenCount = { readonly count: number; readonly window?: number };

/** Counts the tokens of a request that was written for it; the model server does it, so it is exact. */
export type CountTokens = (body: string, signal: AbortSignal) => Promise<TokenCount>;

/** Undefined for servers that cannot count a whole request. */
export function tokenCounter(
  connection: ServerConnection,
  { profile, rootUrl }: { readonly profile: ServerProfile; readonly rootUrl: string },
): CountTokens | undefined {
  const ask = (url: string, body: string, signal: AbortSignal): Promise<string> =>
    connection.text({ method: 'POST', url, accept: 'application/json', body }, signal);
  const url = `${rootUrl}/tokenize`;
  switch (profile.tokenCount) {
    case 'none':
      return undefined;
    case 'tokenize-messages':
      return async (body, signal) => countOf(await ask(url, body, signal), url);
    case 'template-then-tokenize':
      return async (body, signal) => {
        const template = `${rootUrl}/apply-template`;
        const content = promptOf(await ask(template, body, signal), template);
        // The template has written the special tokens; the first one is the tokenizer's to add.
        const text = JSON.stringify({ content, add_special: true, parse_special: true });
        return lengthOf(await ask(url, text, signal), url);
      };
  }
}

function countOf(answer: string, at: string): TokenCount {
  const value = parseJson(answer);
  if (!isJsonObject(value) || typeof value['count'] !== 'number') {
    throw modelResponseInvalid({ at, reason: 'it did not answer with a count of tokens' });
  }
  const window = value['max_model_len'];
  return { count: value['count'], ...(typeof window === 'number' ? { window } : {}) };
}

function promptOf(answer: string, at: string): string {
  const value = parseJson(answer);
  if (isJsonObject(value) && typeof value['prompt'] === 'string') return value['prompt'];
  throw modelResponseInvalid({ at, reason: 'it did not answer with a prompt' });
}

function lengthOf(answer: string, at: string): TokenCount {
  const value = parseJson(answer);
  const tokens = isJsonObject(value) ? value['tokens'] : undefined;
  if (Array.isArray(tokens)) return { count: tokens.length };
  throw modelResponseInvalid({ at, reason: 'it did not answer with a list of tokens' });
}
