/** An answer, read to its end. */
export type Read = { readonly status: number; readonly headers: Headers; readonly body: unknown };

export type Asking = {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Asks with a JSON body when there is one, as POST unless a method is given. */
export async function ask(
  url: string,
  { body, method = body === undefined ? 'GET' : 'POST', headers = {} }: Asking = {},
): Promise<Read> {
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

/** A start that is answered as soon as the run is accepted. */
export const AT_ONCE = { prefer: 'respond-async' } as const;

export type ProblemRead = {
  readonly code: string;
  readonly detail: string;
  readonly mend: string;
  readonly problems?: readonly {
    readonly at: string;
    readonly seen: string;
    readonly mend: string;
  }[];
};

/** The body of a refusal. */
export function problemIn({ body }: Read): ProblemRead {
  return body as ProblemRead;
}
