import { expect, onTestFinished, test, vi } from 'vitest';

/** Imports a script once more, and answers what it writes. */
async function outputOf(script: () => Promise<unknown>): Promise<string> {
  let output = '';
  const collect = (text: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    output += text;
    const written = rest.at(-1);
    if (typeof written === 'function') written();
    return true;
  };
  for (const stream of [process.stdout, process.stderr]) {
    const spy = vi.spyOn(stream, 'write').mockImplementation(collect);
    onTestFinished(() => spy.mockRestore());
  }
  const log = vi.spyOn(console, 'log').mockImplementation((line) => collect(`${line}\n`));
  onTestFinished(() => log.mockRestore());
  await script();
  return output;
}

test('says which model it uses, calls the tool, and streams the answer', {
  timeout: 60_000,
}, async () => {
  vi.stubEnv('HEXAGENT_MODEL_URL', '');
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const output = await outputOf(() => import('./start.ts'));
  expect(output).toContain('Model: scripted (set HEXAGENT_MODEL_URL to use a real one)');
  expect(output).toContain('math.add');
  expect(output).toContain('The sum is 42.');
});
