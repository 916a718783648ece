/** One thing that is wrong with a definition, an option or an input. */
export type Problem = {
  /** Where: `defineAgent("code-assistant").tools[2]`, `plugins[0].options.url`. */
  readonly at: string;
  /** What was seen there. */
  readonly seen: string;
  /** What to do about it. */
  readonly mend: string;
};

export const listed = (problems: readonly Problem[]): string =>
  problems.map(({ at, seen, mend }) => `  - ${at}: ${seen} ${mend}`).join('\n');

export const counted = (problems: readonly Problem[]): string =>
  problems.length === 1 ? '1 problem' : `${problems.length} problems`;
