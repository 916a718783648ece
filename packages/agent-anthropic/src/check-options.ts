import {
  extraProblems,
  headerProblems,
  isHeaderText,
  isJsonObject,
  MODALITIES,
  nameProblems,
  type Problem,
  timeoutProblems,
} from '@hexagent/agent-core/adapter';
import {
  type AnthropicOptions,
  DEFAULT_MAX_TOKENS,
  DEFAULT_TIMEOUTS,
  EFFORTS,
} from './anthropic-options.ts';

/** Fields of the body that the adapter writes itself. */
const OWN_FIELDS: readonly string[] = [
  'cache_control',
  'max_tokens',
  'messages',
  'model',
  'output_config',
  'stream',
  'system',
  'thinking',
  'tool_choice',
  'tools',
];

const OPTION_NAMES: Readonly<Record<keyof AnthropicOptions, true>> = {
  model: true,
  apiKey: true,
  baseUrl: true,
  auth: true,
  apiVersion: true,
  id: true,
  headers: true,
  fetch: true,
  timeouts: true,
  retries: true,
  maxTokens: true,
  thinking: true,
  effort: true,
  promptCache: true,
  parallelTools: true,
  strictTools: true,
  structuredOutput: true,
  serverTools: true,
  extra: true,
  contextWindow: true,
  inputModalities: true,
  clock: true,
  random: true,
};

/** What each option that is a choice may be. */
const CHOICES: Readonly<Partial<Record<keyof AnthropicOptions, readonly unknown[]>>> = {
  auth: ['bearer', 'x-api-key', 'both'],
  effort: EFFORTS,
  promptCache: [false, '5m', '1h'],
  parallelTools: [true, false],
  strictTools: [true, false],
  structuredOutput: ['with-tools', 'final-only', 'none'],
};

/** The least value of each option that is a whole number. */
const LEAST: Readonly<Partial<Record<keyof AnthropicOptions, number>>> = {
  retries: 0,
  maxTokens: 1,
  contextWindow: 1,
};

/** As little as a thinking budget may be. */
const LEAST_BUDGET = 1024;

/** Every problem of the options. Values are untrusted: they may come from a file. */
export function checkOptions(options: AnthropicOptions): Problem[] {
  const problems: Problem[] = [];
  checkNames(options, problems);
  checkAddress(options, problems);
  checkHeaders(options, problems);
  checkNumbers(options, problems);
  checkChoices(options, problems);
  checkThinking(options, problems);
  checkBody(options, problems);
  return problems;
}

function checkNames(options: AnthropicOptions, problems: Problem[]): void {
  problems.push(...nameProblems(options, OPTION_NAMES));
  for (const name of ['model', 'id', 'apiVersion'] as const) {
    const value = options[name];
    if (name !== 'model' && value === undefined) continue;
    if (typeof value === 'string' && value !== '') continue;
    problems.push({
      at: name,
      seen: value === undefined ? 'it is missing.' : 'it is empty, or no text.',
      mend: name === 'model' ? 'Name a model.' : 'Give it, or leave it out.',
    });
  }
}

function checkAddress(
  { baseUrl, apiKey, headers = {} }: AnthropicOptions,
  problems: Problem[],
): void {
  if (baseUrl === undefined) {
    const isKnown = Object.keys(headers).some((name) => /^(authorization|x-api-key)$/i.test(name));
    if (apiKey !== undefined || isKnown) return;
    problems.push({
      at: 'apiKey',
      seen: 'it is missing.',
      mend: 'Give it, such as process.env.ANTHROPIC_API_KEY; only a server at a baseUrl of yours may do without.',
    });
    return;
  }
  const at = 'baseUrl';
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    problems.push({
      at,
      seen: `${JSON.stringify(baseUrl)} is not a URL.`,
      mend: 'Give the address of the server, such as "http://127.0.0.1:8000".',
    });
    return;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    problems.push({ at, seen: `it begins with "${url.protocol}".`, mend: 'Use http: or https:.' });
  }
  if (/\/messages\/?$/.test(url.pathname)) {
    problems.push({
      at,
      seen: 'it ends in "/messages".',
      mend: 'Leave that out: the adapter adds it.',
    });
  }
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    problems.push({
      at,
      seen: 'it has a query, a fragment, a user or a password.',
      mend: 'Leave it out; send what the server needs in headers.',
    });
  }
}

function checkHeaders({ apiKey, headers = {} }: AnthropicOptions, problems: Problem[]): void {
  if (apiKey !== undefined && (apiKey === '' || !isHeaderText(apiKey))) {
    problems.push({
      at: 'apiKey',
      seen: apiKey === '' ? 'it is empty.' : 'it has a character that no header may have.',
      mend: 'Check for a line break at its end, or leave the option out.',
    });
  }
  problems.push(...headerProblems(headers));
}

function checkNumbers(options: AnthropicOptions, problems: Problem[]): void {
  problems.push(...timeoutProblems(options.timeouts ?? {}, DEFAULT_TIMEOUTS));
  for (const [name, least] of Object.entries(LEAST)) {
    const value = optionNamed(options, name);
    if (value === undefined || (Number.isInteger(value) && Number(value) >= least)) continue;
    problems.push({
      at: name,
      seen: `${String(value)}.`,
      mend: `Use a whole number from ${least}.`,
    });
  }
}

function checkChoices(options: AnthropicOptions, problems: Problem[]): void {
  for (const [name, allowed] of Object.entries(CHOICES)) {
    const value = optionNamed(options, name);
    if (value === undefined || allowed.includes(value)) continue;
    problems.push({
      at: name,
      seen: `${JSON.stringify(value)}.`,
      mend: `Use one of ${allowed.map((choice) => JSON.stringify(choice)).join(', ')}.`,
    });
  }
  const known: readonly string[] = MODALITIES;
  for (const modality of options.inputModalities ?? []) {
    if (known.includes(modality)) continue;
    problems.push({
      at: 'inputModalities',
      seen: `${JSON.stringify(modality)} is none.`,
      mend: `Use ${known.join(', ')}.`,
    });
  }
}

function checkThinking(options: AnthropicOptions, problems: Problem[]): void {
  const { thinking, maxTokens = DEFAULT_MAX_TOKENS } = options;
  if (thinking === undefined) return;
  if (!['adaptive', 'enabled', 'disabled'].includes(thinking.type)) {
    problems.push({
      at: 'thinking.type',
      seen: `${JSON.stringify(thinking.type)}.`,
      mend: 'Use "adaptive", "enabled" or "disabled".',
    });
    return;
  }
  if (thinking.type === 'disabled') return;
  if (thinking.display !== undefined && !['summarized', 'omitted'].includes(thinking.display)) {
    problems.push({
      at: 'thinking.display',
      seen: `${JSON.stringify(thinking.display)}.`,
      mend: 'Use "summarized" or "omitted".',
    });
  }
  if (thinking.type !== 'enabled') return;
  const { budgetTokens } = thinking;
  const fits =
    Number.isInteger(budgetTokens) && budgetTokens >= LEAST_BUDGET && budgetTokens < maxTokens;
  if (fits) return;
  problems.push({
    at: 'thinking.budgetTokens',
    seen: `${String(budgetTokens)}, with maxTokens ${maxTokens}.`,
    mend: `Use a whole number from ${LEAST_BUDGET}, below maxTokens; or thinking: { type: "adaptive" }, which needs none.`,
  });
}

function checkBody({ extra = {}, serverTools = [] }: AnthropicOptions, problems: Problem[]): void {
  problems.push(...extraProblems(extra, OWN_FIELDS));
  serverTools.forEach((tool, index) => {
    const isTool = isJsonObject(tool) && typeof tool['type'] === 'string';
    if (isTool && tool['cache_control'] === undefined) return;
    problems.push({
      at: `serverTools[${index}]`,
      seen: isTool ? 'it has a cache_control.' : 'it has no type.',
      mend: isTool ? 'Leave it out: see promptCache.' : "Give the provider's type and name.",
    });
  });
}

function optionNamed(options: AnthropicOptions, name: string): unknown {
  return Object.entries(options).find(([key]) => key === name)?.[1];
}
