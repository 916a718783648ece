import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isJsonObject } from '@hexagent/agent-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askedBy, curlBlocksOf, isPathOf } from './page/curl-block.ts';
import { differences } from './page/differences.ts';
import { keptOf, printedAnswer } from './page/printed-answer.ts';
import { type ServiceProcess, startService, TOKEN, workspaceFolder } from './service-process.ts';

const PAGE = fileURLToPath(new URL('../../../docs/http.md', import.meta.url));
const blocks = curlBlocksOf(readFileSync(PAGE, 'utf8'));
const { folder, remove } = workspaceFolder();
const kept = new Map([['TOKEN', TOKEN]]);
let service: ServiceProcess | undefined;

beforeAll(async () => {
  service = await startService(folder);
  kept.set('URL', service.url);
});

afterAll(async () => {
  service?.kill('SIGKILL');
  await service?.ended;
  remove();
});

/** A page is read from its top: each command may use what one before it has kept. */
describe('docs/http.md says what is so', () => {
  for (const block of blocks) {
    const { line, command, keeps, shown } = block;
    const [{ method, path } = { method: '', path: '' }] = askedBy(block);
    test(`line ${line}: ${method} ${path}`, { timeout: 60_000 }, async () => {
      const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', command], {
        env: { ...process.env, ...Object.fromEntries(kept) },
        timeout: 50_000,
      });
      const answer = printedAnswer(stdout);
      const wanted = shown?.replaceAll(/\$([A-Z]+)/g, (_all, name: string) => kept.get(name) ?? '');
      if (wanted !== undefined) expect(differences(wanted, answer), stdout).toEqual([]);
      for (const [name, member] of keeps) {
        kept.set(name, keptOf(answer, member));
        expect(kept.get(name), `${name} of ${stdout}`).not.toBe('');
      }
    });
  }

  test('every route of the document of the API has a command', async () => {
    const document: unknown = await (await fetch(`${kept.get('URL')}/openapi.json`)).json();
    const paths =
      isJsonObject(document) && isJsonObject(document['paths']) ? document['paths'] : {};
    const asked = blocks.flatMap(askedBy);
    const missing = Object.entries(paths).flatMap(([template, methods]) =>
      Object.keys(isJsonObject(methods) ? methods : {})
        .map((method) => method.toUpperCase())
        .filter(
          (method) => !asked.some((one) => one.method === method && isPathOf(one.path, template)),
        )
        .map((method) => `${method} ${template}`),
    );
    expect(Object.keys(paths).length).toBeGreaterThan(15);
    expect(missing).toEqual([]);
  });
});
