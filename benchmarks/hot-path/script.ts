/** What the model of a workload says: a turn a request. */
export type Script = readonly Turn[];

export type Turn = {
  readonly deltas: readonly string[];
  /** One call for each query. */
  readonly queries: readonly string[];
};

/** What a consumer saw of one run: both contenders must see the same. */
export type Seen = {
  readonly deltas: number;
  readonly characters: number;
  readonly results: number;
};

/** Something that plays a script to its end and streams it. */
export interface Contender {
  play(): Promise<Seen>;
  close(): Promise<void>;
}

export const SYSTEM = 'You are a helpful assistant.';
export const PROMPT = 'Look it up.';
export const TOOL = 'lookup';

/** One turn with so many deltas. */
export function talk(deltas: number): Script {
  return [{ deltas: Array.from({ length: deltas }, (_, n) => `word ${n % 10} `), queries: [] }];
}

/** So many turns with so many calls each, then one delta. */
export function work({ turns, calls }: { readonly turns: number; readonly calls: number }): Script {
  const turn = (at: number): Turn => ({
    deltas: [],
    queries: Array.from({ length: calls }, (_, n) => `query ${at}.${n}`),
  });
  return [...Array.from({ length: turns }, (_, at) => turn(at)), ...talk(1)];
}

/** What every consumer of the script must see. */
export function expected(script: Script): Seen {
  const deltas = script.flatMap((turn) => turn.deltas);
  return {
    deltas: deltas.length,
    characters: deltas.join('').length,
    results: script.reduce((sum, { queries }) => sum + queries.length, 0),
  };
}

/** The tool of both contenders. */
export async function lookUp(
  query: string,
): Promise<{ readonly ok: true; readonly query: string }> {
  return { ok: true, query };
}
