/** One SQL text and its values. */
export type Statement = {
  readonly text: string;
  readonly values: readonly unknown[];
  /** The same for the same text: what a connection keeps its plan under. */
  readonly name: string;
};

export type ParameterType = 'text' | 'bigint' | 'text[]' | 'bigint[]' | 'json' | 'boolean';

/**
 * Writes a statement out of parts. A part that has nothing to do is left out, so the text depends only
 * on which parts there are, and a connection plans each combination once.
 */
export interface StatementWriter {
  /** Adds a value; answers its placeholder. */
  value(value: unknown, type: ParameterType): string;
  /** Adds a common table expression. */
  part(name: string, sql: string): void;
  /** True when a part of this name was added. */
  has(name: string): boolean;
  finish(select: string): Statement;
}

export function statementWriter(kind: string): StatementWriter {
  const values: unknown[] = [];
  const parts = new Map<string, string>();
  return {
    value: (value, type) => {
      values.push(value);
      return `$${values.length}::${type}`;
    },
    part: (name, sql) => {
      parts.set(name, sql);
    },
    has: (name) => parts.has(name),
    finish: (select) => {
      const expressions = [...parts].map(([name, sql]) => `${name} as (${sql})`);
      const text = `with ${expressions.join(',\n')}\n${select}`;
      return { text, values, name: nameOf(kind, text) };
    },
  };
}

/** One name a text; the texts are the combinations of parts, so they are few. */
const namesOf = new Map<string, string>();

function nameOf(kind: string, text: string): string {
  let name = namesOf.get(text);
  if (name === undefined) {
    name = `hexagent_${kind}_${namesOf.size}`;
    namesOf.set(text, name);
  }
  return name;
}

/** The store's clock, in epoch milliseconds: read when a row is written, not when the statement began. */
export const NOW = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/**
 * An expression that undoes the whole statement when the condition holds; the error quotes the reason.
 * The sub-select keeps the planner from failing before it runs.
 */
export function refuseWhen(condition: string, reason: string): string {
  return `case when ${condition} then (select '${REFUSED}${reason}')::bigint end`;
}

/** What a refused statement's error message quotes. */
export const REFUSED = 'hexagent:';
