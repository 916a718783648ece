/** An answer as `curl -i` prints it. */
export type PrintedAnswer = {
  /** The first line: `HTTP/1.1 200 OK`. */
  readonly status: string;
  /** By lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
};

export function printedAnswer(text: string): PrintedAnswer {
  const [head = '', ...rest] = text.replaceAll('\r', '').split('\n\n');
  const [status = '', ...lines] = head.trimEnd().split('\n');
  const headers = lines.map((line): [string, string] => {
    const [name = '', ...value] = line.split(': ');
    return [name.toLowerCase(), value.join(': ')];
  });
  return { status, headers: new Map(headers), body: rest.join('\n\n').trim() };
}

/** What a page keeps of an answer: a member of its JSON (`waits[0].id`), or `last id` and `runId` of a stream. */
export function keptOf({ body }: PrintedAnswer, path: string): string {
  if (path === 'last id') return [...body.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? '';
  if (path === 'runId' && !body.startsWith('{')) return /"runId":"([^"]+)"/.exec(body)?.[1] ?? '';
  let value: unknown = JSON.parse(body);
  for (const key of path.split(/[.[\]]+/).filter((part) => part !== ''))
    value = (value as Readonly<Record<string, unknown>> | undefined)?.[key];
  return value === undefined ? '' : String(value);
}
