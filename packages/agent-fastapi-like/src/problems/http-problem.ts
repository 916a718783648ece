export type HttpProblemWords = {
  /** A word of the application's own list: `CUSTOMER_UNKNOWN`. */
  readonly code: string;
  /** What was seen. It is shown to the caller. */
  readonly detail: string;
  /** What to do next. */
  readonly mend: string;
};

/**
 * What a route of the application refuses: thrown by a handler, it is answered like every other error of the host.
 *
 * @example
 * throw new HttpProblem(404, { code: 'CUSTOMER_UNKNOWN', detail: 'There is no customer 7.', mend: 'Check the number.' });
 *
 * @throws RangeError for a status that is none of an error, 400 to 599
 */
export class HttpProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly mend: string;

  constructor(status: number, { code, detail, mend }: HttpProblemWords) {
    super(detail);
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw new RangeError(`${status} is not the status of an error.`);
    this.name = 'HttpProblem';
    this.status = status;
    this.code = code;
    this.mend = mend;
  }
}
