import {
  extraProblems,
  headerProblems,
  isHeaderText,
  MODALITIES,
  nameProblems,
  type Problem,
  timeoutProblems,
} from '@hexagent/agent-core/adapter';
import type { ServerProfile } from './server-profile.ts';
import { PROFILE_NAMES, serverProfile } from './server-profiles.ts';
import { EFFORTS } from './thinking.ts';
import type { Timeouts, VllmOptions } from './vllm-options.ts';

/** Fields of the body that the adapter writes itself. */
const OWN_FIELDS: readonly string[] = [
  'messages',
  'model',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'response_format',
  'n',
];

const OPTION_NAMES: Readonly<Record<keyof VllmOptions, true>> = {
  baseUrl: true,
  id: true,
  model: true,
  apiKey: true,
  profile: true,
  headers: true,
  fetch: true,
  timeouts: true,
  retries: true,
  chatTemplateKwargs: true,
  thinking: true,
  extra: true,
  cacheSalt: true,
  priority: true,
  promptCache: true,
  minOutputTokens: true,
  stream: true,
  contextWindow: true,
  inputModalities: true,
  clock: true,
  random: true,
};

/** What an operator can still guess or search through. */
const SHORTEST_SECRET = 16;

/** Adds every problem of the options to the list; the address, where it is one. */
export function checkOptions(
  options: VllmOptions,
  { limits, problems }: { readonly limits: Timeouts; readonly problems: Problem[] },
): URL | undefined {
  problems.push(...nameProblems(options, OPTION_NAMES));
  const url = urlOf(options.baseUrl, problems);
  checkHeaders(options, problems);
  problems.push(...timeoutProblems(options.timeouts ?? {}, limits));
  checkNumbers(options, problems);
  checkChoices(options, problems);
  if (isKnown(options)) {
    checkAbilities(options, { profile: serverProfile(options.profile ?? 'vllm'), problems });
  }
  return url;
}

function urlOf(baseUrl: string, problems: Problem[]): URL | undefined {
  const at = 'baseUrl';
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    problems.push({
      at,
      seen: `${JSON.stringify(baseUrl) ?? 'undefined'} is not a URL.`,
      mend: 'Give the address of the server, such as "http://127.0.0.1:8000/v1".',
    });
    return undefined;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    problems.push({ at, seen: `it begins with "${url.protocol}".`, mend: 'Use http: or https:.' });
  }
  if (/\/chat\/completions\/?$/.test(url.pathname)) {
    problems.push({
      at,
      seen: 'it ends in "/chat/completions".',
      mend: 'Leave that out: the adapter adds it.',
    });
  }
  if (url.search !== '' || url.hash !== '') {
    problems.push({
      at,
      seen: 'it has a query or a fragment.',
      mend: 'Leave it out; send what the server needs in headers.',
    });
  }
  return url;
}

function checkHeaders({ apiKey, headers = {} }: VllmOptions, problems: Problem[]): void {
  if (typeof apiKey !== 'string' && apiKey !== undefined && typeof apiKey !== 'function') {
    problems.push({
      at: 'apiKey',
      seen: `it is a ${typeof apiKey}.`,
      mend: 'Give a text, or a function that gives one.',
    });
  }
  if (typeof apiKey === 'string' && (apiKey === '' || !isHeaderText(apiKey))) {
    problems.push({
      at: 'apiKey',
      seen: apiKey === '' ? 'it is empty.' : 'it has a character that no header may have.',
      mend: 'Check for a line break at its end, or leave the option out.',
    });
  }
  problems.push(...headerProblems(headers));
}

function checkNumbers(options: VllmOptions, problems: Problem[]): void {
  const { retries, contextWindow, minOutputTokens, priority } = options;
  const check = (at: string, isRight: boolean, mend: string): void => {
    if (isRight) return;
    problems.push({ at, seen: `${String(options[at as keyof VllmOptions])}.`, mend });
  };
  check(
    'retries',
    retries === undefined || (Number.isInteger(retries) && retries >= 0),
    'Use 0 or a whole number above.',
  );
  check(
    'contextWindow',
    contextWindow === undefined || (Number.isInteger(contextWindow) && contextWindow > 0),
    'Use a number of tokens above 0.',
  );
  check(
    'minOutputTokens',
    minOutputTokens === undefined || minOutputTokens >= 1,
    'Use a number of tokens, or Infinity.',
  );
  check(
    'priority',
    priority === undefined || typeof priority === 'function' || Number.isInteger(priority),
    'Use a whole number, or a function of the request that gives one.',
  );
}

function isKnown({ profile = 'vllm' }: VllmOptions): boolean {
  return PROFILE_NAMES.includes(typeof profile === 'string' ? profile : profile.base);
}

function checkChoices(options: VllmOptions, problems: Problem[]): void {
  const {
    profile = 'vllm',
    id,
    model,
    extra = {},
    thinking,
    promptCache,
    inputModalities,
  } = options;
  if (!isKnown(options)) {
    problems.push({
      at: 'profile',
      seen: `${JSON.stringify(typeof profile === 'string' ? profile : profile.base)} is not a known server.`,
      mend: `Use one of ${PROFILE_NAMES.join(', ')}.`,
    });
  }
  if (id !== undefined && (typeof id !== 'string' || id === '')) {
    problems.push({
      at: 'id',
      seen: 'it is empty, or no text.',
      mend: 'Give it, or leave it out.',
    });
  }
  if (model === '') {
    problems.push({ at: 'model', seen: 'it is empty.', mend: 'Name a model, or leave it out.' });
  }
  problems.push(...extraProblems(extra, OWN_FIELDS));
  checkOneOf('thinking', thinking, { known: [true, false, ...EFFORTS], problems });
  checkOneOf('promptCache', promptCache, { known: [false, '5m', '1h'], problems });
  for (const modality of inputModalities ?? []) {
    checkOneOf('inputModalities', modality, { known: MODALITIES, problems });
  }
}

function checkOneOf(
  at: string,
  value: unknown,
  { known, problems }: { readonly known: readonly unknown[]; readonly problems: Problem[] },
): void {
  if (value === undefined || known.includes(value)) return;
  problems.push({
    at,
    seen: `${JSON.stringify(value)}.`,
    mend: `Use ${known.map((each) => JSON.stringify(each)).join(', ')}.`,
  });
}

/** What the server would pass over without a word is refused: a salt that is not read keeps nobody apart. */
function checkAbilities(
  { cacheSalt, priority, thinking }: VllmOptions,
  { profile, problems }: { readonly profile: ServerProfile; readonly problems: Problem[] },
): void {
  const refuse = (at: string): void => {
    problems.push({
      at,
      seen: `a server of profile "${profile.name}" does not read it.`,
      mend: `Leave it out, or say in the profile that this server does.`,
    });
  };
  if (cacheSalt !== undefined && !profile.cacheSalt) refuse('cacheSalt');
  if (priority !== undefined && !profile.priority) refuse('priority');
  if (thinking !== undefined && profile.thinking === 'none') refuse('thinking');
  if (cacheSalt === undefined) return;
  const { secret } = cacheSalt;
  if (typeof secret === 'string' && secret.length >= SHORTEST_SECRET) return;
  problems.push({
    at: 'cacheSalt.secret',
    seen: typeof secret === 'string' ? `it has ${secret.length} characters.` : 'it is missing.',
    mend: `Use at least ${SHORTEST_SECRET} random characters, from a secret of the deployment.`,
  });
}
