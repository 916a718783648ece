import { isAbsolute, resolve } from 'node:path';
import {
  definitionInvalid,
  isJsonObject,
  type JsonObject,
  type Problem,
} from '@hexagent/agent-core';

export type KyselyOptions = {
  /** `file:hexagent.db`, `file::memory:` or `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** PostgreSQL: how many connections at most. Default 10. */
  readonly poolSize?: number;
  /** PostgreSQL: the schema of the tables. Default: the first of the connection's search path. */
  readonly schema?: string;
  /** What the names of all tables start with. Default `hexagent_`. */
  readonly tablePrefix?: string;
  /** How often events alone are committed, in milliseconds. Default 1,000 on PostgreSQL, never on SQLite. */
  readonly liveFlushMs?: number;
  /** Whether opening the store brings its tables up to date. Default `auto` for a file, `never` for PostgreSQL. */
  readonly migrate?: 'auto' | 'never';
  /** PostgreSQL: named statements are planned once a connection; a pooler in front may need `unnamed`. Default `named`. */
  readonly statements?: 'named' | 'unnamed';
  /** PostgreSQL: tell other processes about new events at once. Default true; without it they poll. */
  readonly notify?: boolean;
};

/** The part of the options that is data, as the manifest shows it. */
export const OPTIONS_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    url: { type: 'string', pattern: '^(file:|postgres(ql)?://)' },
    poolSize: { type: 'integer', minimum: 1, maximum: 1000 },
    schema: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
    tablePrefix: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$', maxLength: 30 },
    liveFlushMs: { type: 'integer', minimum: 1 },
    migrate: { enum: ['auto', 'never'] },
    statements: { enum: ['named', 'unnamed'] },
    notify: { type: 'boolean' },
  },
  required: ['url'],
  additionalProperties: false,
};

/** What the options mean. */
export type Target = {
  readonly url: string;
  readonly prefix: string;
  readonly migrate: 'auto' | 'never';
  readonly liveFlushMs: number | undefined;
} & (
  | { readonly kind: 'sqlite' /** Absolute, or `:memory:`. */; readonly path: string }
  | {
      readonly kind: 'postgres';
      readonly schema: string | undefined;
      readonly poolSize: number;
      readonly isNamed: boolean;
      readonly isNotifying: boolean;
    }
);

/** Reads the options; all problems at once. */
export function targetOf(options: unknown): Target {
  const problems = problemsOf(options);
  if (problems.length > 0) throw definitionInvalid('kyselyStore', problems);
  const given = options as KyselyOptions;
  const { url, tablePrefix = 'hexagent_' } = given;
  if (url.startsWith('file:')) {
    const path = filePath(url);
    return {
      kind: 'sqlite',
      url,
      path: path === ':memory:' || isAbsolute(path) ? path : resolve(path),
      prefix: tablePrefix,
      migrate: given.migrate ?? 'auto',
      liveFlushMs: given.liveFlushMs,
    };
  }
  return {
    kind: 'postgres',
    url,
    prefix: tablePrefix,
    schema: given.schema,
    poolSize: given.poolSize ?? 10,
    isNamed: (given.statements ?? 'named') === 'named',
    isNotifying: given.notify ?? true,
    migrate: given.migrate ?? 'never',
    liveFlushMs: given.liveFlushMs ?? 1000,
  };
}

/** `file:a.db`, `file:./a.db`, `file:/a.db` and `file:///a.db`, as everybody writes them. */
function filePath(url: string): string {
  const rest = url.slice('file:'.length);
  return rest.startsWith('//') ? decodeURIComponent(rest.slice(2)) : rest;
}

function problemsOf(options: unknown): readonly Problem[] {
  if (!isJsonObject(options)) {
    return [
      { at: 'options', seen: `${typeof options}.`, mend: "Pass { url: 'file:hexagent.db' }." },
    ];
  }
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const check = CHECKS[name];
    if (check === undefined) {
      const mend = `Take it out. Known: ${Object.keys(CHECKS).join(', ')}.`;
      problems.push({ at: name, seen: 'there is no such option.', mend });
    } else if (!check.holds(value)) {
      problems.push({ at: name, seen: `${shown(name, value)}.`, mend: check.mend });
    }
  }
  if (options.url === undefined) {
    problems.push({ at: 'url', seen: 'it is missing.', mend: URL_CHECK.mend });
  } else if (problems.length === 0) {
    problems.push(...misplaced(options));
  }
  return problems;
}

/** Options of the other database, which would have no effect. */
function misplaced(options: JsonObject): readonly Problem[] {
  if (!String(options.url).startsWith('file:')) return [];
  return ['poolSize', 'schema', 'statements', 'notify']
    .filter((name) => options[name] !== undefined)
    .map((at) => ({ at, seen: 'it is for PostgreSQL.', mend: 'Take it out for a file.' }));
}

type Check = { readonly holds: (value: unknown) => boolean; readonly mend: string };

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,29}$/;
const isIdentifier = (value: unknown): boolean =>
  typeof value === 'string' && IDENTIFIER.test(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 1;
const oneOf =
  (...words: readonly string[]) =>
  (value: unknown): boolean =>
    words.some((word) => word === value);

const URL_CHECK: Check = {
  holds: isUrl,
  mend: 'Write file:hexagent.db, file::memory: or postgres://user:password@host:5432/database.',
};
const NAME_MEND = 'Use letters, digits and _, at most 30, and do not start with a digit.';

const CHECKS: Readonly<Record<string, Check>> = {
  url: URL_CHECK,
  poolSize: { holds: isCount, mend: 'Give a whole number from 1.' },
  schema: { holds: isIdentifier, mend: NAME_MEND },
  tablePrefix: { holds: isIdentifier, mend: NAME_MEND },
  liveFlushMs: { holds: isCount, mend: 'Give whole milliseconds from 1.' },
  migrate: { holds: oneOf('auto', 'never'), mend: "Use 'auto' or 'never'." },
  statements: { holds: oneOf('named', 'unnamed'), mend: "Use 'named' or 'unnamed'." },
  notify: { holds: (value) => typeof value === 'boolean', mend: 'Use true or false.' },
};

function isUrl(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (value.startsWith('file:')) return /^[^\0?#]+$/.test(filePath(value));
  if (!/^postgres(ql)?:\/\//.test(value)) return false;
  try {
    new URL(value);
    return true;
  } catch {
    return false;
  }
}

function shown(name: string, value: unknown): string {
  return name === 'url' && typeof value === 'string'
    ? JSON.stringify(withoutPassword(value))
    : JSON.stringify(value);
}

/** A database URL as errors and logs may show it. */
export function withoutPassword(url: string): string {
  return url.replace(/^([a-z]+:\/\/)[^@/]*@/i, '$1').replace(/[?&]password=[^&]*/i, '');
}
