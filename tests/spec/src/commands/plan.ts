import fc from 'fast-check';

/** What the tools of the clerk do outside, and what a crash in the middle of them asks for. */
export const TOOLS = {
  /** A read: repeated freely. */
  look: { asks: false, unsafe: false, deed: false },
  /** An effect of a receiver that applies one key once: sent again. */
  pay: { asks: false, unsafe: false, deed: true },
  /** An effect whose receiver can be asked what became of it. */
  book: { asks: false, unsafe: false, deed: true },
  /** An effect that nobody can ask about: a person says whether it happened. */
  mail: { asks: false, unsafe: true, deed: true },
  /** Like `pay`, after an approval. */
  sign: { asks: true, unsafe: false, deed: true },
  /** Like `mail`, after an approval. */
  hand: { asks: true, unsafe: true, deed: true },
  /** Waits for an event, for a while. */
  listen: { asks: true, unsafe: false, deed: false },
} as const;
export type ToolName = keyof typeof TOOLS;

/** What the model asks for, answer by answer: one batch of calls each. Then it says what it has seen. */
export type Plan = readonly (readonly ToolName[])[];

export const plan: fc.Arbitrary<Plan> = fc.array(
  fc.array(fc.constantFrom(...(Object.keys(TOOLS) as ToolName[]), 'mail', 'hand'), {
    minLength: 1,
    maxLength: 3,
  }),
  { maxLength: 3 },
);

const PREFIX = 'plan ';

/** A plan as a user says it. */
export const asked = (given: Plan): string => `${PREFIX}${JSON.stringify(given)}`;
export const planIn = (text: string): Plan | undefined =>
  text.startsWith(PREFIX) ? JSON.parse(text.slice(PREFIX.length)) : undefined;

/** The argument of a call: its place in the plan. */
export const idAt = (batch: number, index: number): string => `${batch}/${index}`;

/** What the model says at the end: everything that it was told. */
export type Told = {
  /** A result each: `ok` with its text, or why there is none. */
  readonly results: readonly string[];
  /** What users said meanwhile, in order. */
  readonly heard: readonly string[];
};
