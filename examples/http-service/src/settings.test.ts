import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { greeting } from './greeting.ts';
import { settingsOf } from './settings.ts';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'hexagent-settings-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test('a second start has the token and the workspace of the first', () => {
  const data = folder();
  const first = settingsOf({}, data);
  expect(first.token.length).toBeGreaterThanOrEqual(24);
  expect(statSync(join(first.workspace, 'src/slugify.ts')).isFile()).toBe(true);
  expect(settingsOf({}, data)).toEqual(first);
});

if (process.platform === 'win32') console.log('skipped: files of Windows have no modes');
test.skipIf(process.platform === 'win32')('nobody else may read the token', () => {
  const data = folder();
  settingsOf({}, data);
  expect(statSync(join(data, 'token')).mode & 0o077).toBe(0);
});

test('what the environment says is taken, and nothing is made', () => {
  const data = folder();
  const settings = settingsOf(
    {
      HEXAGENT_PORT: '0',
      HEXAGENT_TOKEN: 'a token of one',
      HEXAGENT_WORKSPACE: data,
      HEXAGENT_MODEL_URL: 'http://127.0.0.1:9/v1',
      HEXAGENT_MODEL: 'small',
      HEXAGENT_API_KEY: 'a key',
    },
    join(data, 'not-made'),
  );
  expect(settings).toMatchObject({
    port: 0,
    token: 'a token of one',
    workspace: data,
    modelServer: { baseUrl: 'http://127.0.0.1:9/v1', model: 'small', apiKey: 'a key' },
  });
  expect(() => statSync(join(data, 'not-made'))).toThrow('ENOENT');
  const text = greeting('http://127.0.0.1:1', settings);
  expect(text).toContain('small at http://127.0.0.1:9/v1');
  expect(text).not.toContain('a key');
});

test('variables that are not right are refused together, and nothing is made', () => {
  const data = join(folder(), 'not-made');
  const environment = {
    HEXAGENT_PORT: 'http',
    HEXAGENT_PACE_MS: '-1',
    HEXAGENT_WORKSPACE: join(data, 'x'),
  };
  expect(() => settingsOf(environment, data)).toThrow(
    /HEXAGENT_PORT: is "http"[\s\S]*HEXAGENT_PACE_MS: is "-1"[\s\S]*HEXAGENT_WORKSPACE: .*not a folder/,
  );
  expect(() => statSync(data)).toThrow('ENOENT');
});
