import {
  AgentError,
  isHeaderText,
  masked,
  modelAuthentication,
} from '@hexagent/agent-core/adapter';
import type { ApiSettings } from './api-options.ts';
import { version } from './version.ts';

/** A header with null is not sent, also where the client would send one by itself. */
export type SentHeaders = Readonly<Record<string, string | null>>;

/**
 * All headers of a request but that of its content. The client would add some by itself, and those of
 * `OPENAI_CUSTOM_HEADERS` in place of its own: what nobody configured is not sent.
 */
export function sentHeaders(
  settings: ApiSettings,
  { key, requestId }: { readonly key: string; readonly requestId: string | undefined },
): SentHeaders {
  return {
    accept: 'application/json',
    'user-agent': `hexagent-agent-openai/${version}`,
    authorization: key === '' ? null : `Bearer ${key}`,
    'openai-organization': settings.organization ?? null,
    'openai-project': settings.project ?? null,
    'x-client-request-id': requestId ?? null,
    ...lowerCased(settings.headers),
  };
}

/** The key of a request. What makes one is asked each time, and what it gives is a secret from then on. */
export async function keyOf(
  { apiKey }: ApiSettings,
  { at, secrets }: { readonly at: string; readonly secrets: string[] },
): Promise<string> {
  if (typeof apiKey === 'string') return apiKey;
  let made: string;
  try {
    made = await apiKey();
  } catch (error) {
    if (AgentError.is(error)) throw error;
    const words = error instanceof Error ? error.message : String(error);
    const reason = `the function of apiKey failed: ${masked(words, secrets)}`;
    throw modelAuthentication({ at, reason, cause: error });
  }
  if (typeof made !== 'string' || made === '' || !isHeaderText(made)) {
    const reason = 'the function of apiKey gave no text that a header can carry';
    throw modelAuthentication({ at, reason });
  }
  if (!secrets.includes(made)) secrets.push(made);
  return made;
}

function lowerCased(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
