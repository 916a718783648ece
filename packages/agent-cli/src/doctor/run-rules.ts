import { type Check, checked } from './check.ts';

/** One promise of a port, as the contract kits of agent-core have them. */
export type PortRule<Subject> = {
  readonly name: string;
  readonly needs?: string;
  readonly readOnly?: true;
  readonly check: (subject: Subject) => Promise<void>;
};

export type RulesOptions<Subject> = {
  readonly subject: 'store' | 'model';
  readonly of: Subject;
  readonly capabilities: readonly string[];
  /** Also the rules that write. */
  readonly write: boolean;
};

/** The rules of a kit against what is configured, one after the other. What is left out is said. */
export async function* runRules<Subject>(
  rules: readonly PortRule<Subject>[],
  { subject, of, capabilities, write }: RulesOptions<Subject>,
): AsyncGenerator<Check> {
  let writing = 0;
  for (const { name, needs, readOnly, check } of rules) {
    if (readOnly !== true && !write) {
      writing += 1;
    } else if (needs !== undefined && !capabilities.includes(needs)) {
      yield {
        subject,
        name,
        status: 'skipped',
        detail: `needs ${needs}, which doctor does not have`,
      };
    } else {
      yield await checked({ subject, name }, async () => {
        await check(of);
        return '';
      });
    }
  }
  if (writing > 0) {
    const name = `${writing} rules that write`;
    yield { subject, name, status: 'skipped', detail: 'run them with --write' };
  }
}
