/** The command line itself is wrong: exit code 2. */
export class UsageError extends Error {
  readonly mend: string;

  constructor(message: string, mend: string) {
    super(message);
    this.name = 'UsageError';
    this.mend = mend;
  }
}
