/** How the demo tells its story: coloured on a terminal, plain text in a pipe. */
export interface Terminal {
  title(text: string): void;
  /** A chapter: what the reader is about to see. */
  chapter(number: number, text: string): void;
  say(text: string): void;
  /** A command as a reader would type it. */
  command(text: string): void;
  /** Lines of a unified diff. */
  diff(text: string): void;
  good(text: string): void;
  bad(text: string): void;
}

type Stream = { readonly isTTY?: boolean; write(text: string): unknown };

/** Colours only where a person looks, and not when `NO_COLOR` asks for none. */
export function terminal(stream: Stream, environment: NodeJS.ProcessEnv): Terminal {
  const coloured = stream.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb';
  const style =
    (code: number) =>
    (text: string): string =>
      coloured ? `\u001b[${code}m${text}\u001b[0m` : text;
  const [bold, faint, red, green, cyan] = [1, 2, 31, 32, 36].map(style) as [
    Paint,
    Paint,
    Paint,
    Paint,
    Paint,
  ];
  const line = (text = ''): void => {
    stream.write(`${text}\n`);
  };
  const coloursOfDiff = (text: string): string => {
    if (/^(?:---|\+\+\+|diff|index)/.test(text)) return bold(text);
    if (text.startsWith('+')) return green(text);
    if (text.startsWith('-')) return red(text);
    return text.startsWith('@@') ? cyan(text) : faint(text);
  };
  return {
    title: (text) => {
      line();
      line(bold(text));
      line(faint('─'.repeat(text.length)));
    },
    chapter: (number, text) => {
      line();
      line(bold(`${number} · ${text}`));
    },
    say: (text) => line(text),
    command: (text) => {
      line();
      line(`${faint('$')} ${cyan(text)}`);
    },
    diff: (text) => {
      for (const one of text.trimEnd().split('\n')) line(`  ${coloursOfDiff(one)}`);
    },
    good: (text) => line(`${green('✓')} ${text}`),
    bad: (text) => line(`${red('✗')} ${text}`),
  };
}

type Paint = (text: string) => string;
