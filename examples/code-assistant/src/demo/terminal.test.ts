import { expect, test } from 'vitest';
import { terminal } from './terminal.ts';

function written(isTTY: boolean, environment: NodeJS.ProcessEnv = {}): string {
  let output = '';
  const stream = {
    isTTY,
    write: (text: string) => {
      output += text;
    },
  };
  const story = terminal(stream, environment);
  story.title('Demo');
  story.chapter(1, 'It begins.');
  story.say('said');
  story.command('hexagent run');
  story.diff('--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same\n');
  story.good('fine');
  story.bad('broken');
  return output;
}

const PLAIN = `
Demo
────

1 · It begins.
said

$ hexagent run
  --- a
  +++ b
  @@ -1 +1 @@
  -old
  +new
   same
✓ fine
✗ broken
`;

test('writes plain text into a pipe', () => {
  expect(written(false)).toBe(PLAIN);
});

test('writes plain text where no colours are wanted', () => {
  expect(written(true, { NO_COLOR: '1' })).toBe(PLAIN);
  expect(written(true, { TERM: 'dumb' })).toBe(PLAIN);
});

test('paints on a terminal, and says the same', () => {
  const painted = written(true);
  expect(painted).toContain('\u001b[32m+new\u001b[0m');
  expect(painted).toContain('\u001b[31m-old\u001b[0m');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes are what is taken out
  expect(painted.replace(/\u001b\[\d+m/g, '')).toBe(PLAIN);
});
