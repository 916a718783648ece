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
      return { text, values, name: `hexagent_${kind}_${fingerprint(text)}` };
    },
  };
}

/** FNV-1a over the text: names of statements differ where their texts do, within one connection. */
function fingerprint(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ (unit + index), 0x01000193);
  }
  return (low >>> 0).toString(36) + (high >>> 0).toString(36);
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
