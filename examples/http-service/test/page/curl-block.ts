import { fencesOf } from '../../../../tools/docs/markdown.mjs';

/** A command of a page, and what the page says that it prints. */
export type CurlBlock = {
  /** Of the page, where the fence opens. */
  readonly line: number;
  readonly command: string;
  /** What the answer gives to the commands behind it: `RUN` by `run.runId`. */
  readonly keeps: ReadonlyMap<string, string>;
  /** An answer as the page shows it; undefined when it shows none. */
  readonly shown: string | undefined;
};

export type Asked = { readonly method: string; readonly path: string };

/**
 * The shell fences of a page that call `curl`, in order. A fence `http` right behind one is its answer, and a comment
 * `# RUN=<run.runId>` inside says what to keep of it.
 */
export function curlBlocksOf(page: string): readonly CurlBlock[] {
  const fences = fencesOf(page);
  return fences.flatMap(({ language, text, line, attributes }, at) => {
    if (language !== 'sh' || attributes.has('no-run') || !/^curl /m.test(text)) return [];
    const next = fences[at + 1];
    const kept = [...text.matchAll(/\b([A-Z]+)=<([^>]+)>/g)];
    return [
      {
        line,
        command: text,
        keeps: new Map(kept.map(([, name = '', path = '']) => [name, path])),
        shown: next?.language === 'http' ? next.text : undefined,
      },
    ];
  });
}

/** What the commands of a block ask: each `curl` of it, with the variables of the path as they stand. */
export function askedBy({ command }: CurlBlock): readonly Asked[] {
  const calls = command.replaceAll('\\\n', ' ').split('\n');
  return calls.flatMap((call) => {
    const [, path] = /^curl .*?"\$URL(\/[^"?]*)/.exec(call) ?? [];
    if (path === undefined) return [];
    const [, method] = /\s-X ([A-Z]+)/.exec(call) ?? [];
    return [{ method: method ?? (/\s(--json|-d) /.test(call) ? 'POST' : 'GET'), path }];
  });
}

/** Whether a path that is asked for is one of a template: `/runs/$RUN` of `/runs/{runId}`. */
export function isPathOf(path: string, template: string): boolean {
  const given = path.split('/');
  const wanted = template.split('/');
  return (
    given.length === wanted.length &&
    wanted.every((part, at) => part === given[at] || (part.startsWith('{') && given[at] !== ''))
  );
}
