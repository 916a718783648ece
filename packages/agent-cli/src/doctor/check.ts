import { errorRecord } from '../render/error-view.ts';

/** One thing that doctor looked at. */
export type Check = {
  readonly subject: 'config' | 'plugins' | 'application' | 'migrations' | 'store' | 'model';
  readonly name: string;
  readonly status: 'ok' | 'failed' | 'skipped';
  /** What was seen, or why it was skipped. */
  readonly detail: string;
  readonly mend?: string;
};

/** Runs one check; what it throws is what is wrong. */
export async function checked(
  { subject, name }: Pick<Check, 'subject' | 'name'>,
  work: () => Promise<string>,
): Promise<Check> {
  try {
    return { subject, name, status: 'ok', detail: await work() };
  } catch (error) {
    const { code, message, mend } = errorRecord(error);
    const detail = code === 'INTERNAL_ERROR' ? message : `${code}: ${message}`;
    return { subject, name, status: 'failed', detail, mend };
  }
}
