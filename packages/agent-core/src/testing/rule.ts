/**
 * One promise that a port makes, as data: no test runner inside, so that `hexagent doctor` can run
 * the rules of a test suite in production. `check` throws a plain Error that says what was seen.
 *
 * @example
 * for (const rule of modelContract) test(rule.name, async () => rule.check(await subject()));
 */
export type Rule<Subject> = {
  readonly name: string;
  /** An optional capability; without it every adapter must pass, and a skip needs a reason. */
  readonly needs?: string;
  /** Writes nothing: may run against data that is in use. */
  readonly readOnly?: true;
  readonly check: (subject: Subject) => Promise<void>;
};
