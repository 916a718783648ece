import type { ServedModel } from '../server-models.ts';
import type { ServerProfile } from '../server-profile.ts';
import { type ProfileChoice, type ProfileName, SERVER_PROFILES } from '../server-profiles.ts';
import type { VllmOptions } from '../vllm-options.ts';

/** Who the lists of models say that they are owned by. */
const OWNERS: ReadonlyMap<string, ProfileName> = new Map([
  ['vllm', 'vllm'],
  ['sglang', 'sglang'],
  ['llamacpp', 'llama.cpp'],
  ['library', 'ollama'],
  ['organization_owner', 'lmstudio'],
]);

const HOSTS: readonly (readonly [RegExp, ProfileName])[] = [
  [/(^|\.)openrouter\.ai$/, 'openrouter'],
  [/^generativelanguage\.googleapis\.com$/, 'gemini'],
  [/aiplatform\.googleapis\.com$/, 'vertex'],
];

/** The known server that this one is, or is most like. */
export function baseOf(given: {
  readonly options: VllmOptions;
  readonly models: readonly ServedModel[];
  readonly found: Partial<ServerProfile>;
}): ProfileName {
  const { options, models, found } = given;
  const { profile } = options;
  if (profile !== undefined) return typeof profile === 'string' ? profile : profile.base;
  const host = HOSTS.find(([pattern]) => pattern.test(new URL(options.baseUrl).hostname));
  if (host !== undefined) return host[1];
  const owner = models.map(({ ownedBy = '' }) => OWNERS.get(ownedBy)).find((each) => each);
  if (owner !== undefined) return owner;
  if (found.tokenCount === 'tokenize-messages') return 'vllm';
  return found.tokenCount === 'template-then-tokenize' ? 'llama.cpp' : 'openai-compatible';
}

/** The known server, with what the options say of it and what was found to be different; what was seen wins. */
export function profileOf(
  base: ProfileName,
  found: Partial<ServerProfile>,
  { profile }: Pick<VllmOptions, 'profile'> = {},
): ProfileChoice {
  const { base: _, ...said } = typeof profile === 'object' ? profile : { base };
  const known: ServerProfile = SERVER_PROFILES[base];
  const differences = Object.fromEntries(
    Object.entries({ ...said, ...found }).filter(
      ([field, value]) => known[field as keyof ServerProfile] !== value,
    ),
  );
  return Object.keys(differences).length === 0 ? base : { base, ...differences };
}

/** The plugin as code. A key stays where it is: it is named, not shown. */
export function codeOf(options: VllmOptions, model: string, profile: ProfileChoice): string {
  const { username, password, href } = new URL(options.baseUrl);
  const secret = username !== '' || password !== '';
  const lines = [
    `baseUrl: ${quoted(secret ? withoutCredentials(href) : options.baseUrl)},`,
    `model: ${quoted(model)},`,
    ...(options.apiKey === undefined ? [] : ['apiKey: process.env.MODEL_API_KEY,']),
    `profile: ${typeof profile === 'string' ? quoted(profile) : object(profile)},`,
  ];
  return `vllm({\n${lines.map((line) => `  ${line}\n`).join('')}})`;
}

function withoutCredentials(href: string): string {
  const url = new URL(href);
  url.username = '';
  url.password = '';
  return url.href;
}

function object(values: object): string {
  const fields = Object.entries(values).map(
    ([name, value]) =>
      `${name}: ${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`,
  );
  return `{ ${fields.join(', ')} }`;
}

function quoted(text: string): string {
  // What JSON escapes, a line break above all, has the same escape in a quoted text.
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return `'${inner.replaceAll("'", "\\'")}'`;
}
