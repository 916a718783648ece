/** Colours by meaning. Without colours each answers its text. */
export type Style = {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly attention: (text: string) => string;
  readonly name: (text: string) => string;
};

const ansi =
  (open: number, close: number) =>
  (text: string): string =>
    `\u001b[${open}m${text}\u001b[${close}m`;
const same = (text: string): string => text;

export const coloured: Style = {
  strong: ansi(1, 22),
  faint: ansi(2, 22),
  good: ansi(32, 39),
  bad: ansi(31, 39),
  attention: ansi(33, 39),
  name: ansi(36, 39),
};

export const plain: Style = {
  strong: same,
  faint: same,
  good: same,
  bad: same,
  attention: same,
  name: same,
};
