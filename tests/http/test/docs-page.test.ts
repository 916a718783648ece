import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM_FLAGS, chromiumPath } from '../src/chromium.ts';
import { ALICE } from '../src/contract.ts';
import { type CountingProcess, countingProcess } from '../src/counting-process.ts';

const executablePath = chromiumPath();
console.log(
  executablePath === undefined
    ? 'The docs page is not looked at: there is no Chromium. Name one with HEXAGENT_TEST_CHROMIUM.'
    : `The docs page is looked at in ${executablePath}.`,
);

describe.skipIf(executablePath === undefined)('the docs page', () => {
  let service: CountingProcess;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const asked: string[] = [];

  beforeAll(async () => {
    service = await countingProcess({ tokens: true });
    browser = await chromium.launch({
      ...(executablePath === undefined ? {} : { executablePath }),
      args: [...CHROMIUM_FLAGS],
    });
    page = await browser.newPage({ viewport: { width: 1280, height: 1400 } });
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${service.url}/docs`);
    await page.waitForSelector('.opblock');
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  test('shows every operation, and loads nothing from anywhere else', async () => {
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      readonly paths: Readonly<Record<string, object>>;
    };
    const operations = Object.values(document.paths).flatMap((path) => Object.keys(path));
    expect(await page.locator('.opblock').count()).toBe(operations.length);
    expect(asked.filter((url) => !url.startsWith(service.url) && !url.startsWith('data:'))).toEqual(
      [],
    );
    expect(complaints).toEqual([]);
    const shot = process.env['HEXAGENT_DOCS_SCREENSHOT'];
    if (shot !== undefined)
      await page.screenshot({
        path: fileURLToPath(new URL(`../../../${shot}`, import.meta.url)),
      });
  });

  test('tries a start out for whoever has said who asks, and for nobody else', async () => {
    const start = page.locator('#operations-agents-startRun');
    await start.locator('.opblock-summary-control').click();
    await start.locator('[data-param-name="agent"] input').fill('clerk');
    await start.locator('textarea.body-param__text').fill('{"message":"write milk"}');
    /** What the page shows of an answer with this status. */
    const execute = async (status: number): Promise<string> => {
      await start.locator('button.execute').click();
      const row = start.locator('.live-responses-table .response', { hasText: String(status) });
      await row.first().waitFor();
      return (await row.first().textContent()) ?? '';
    };
    expect(await execute(401)).toContain('"mend"');

    await page.locator('.auth-wrapper .authorize').first().click();
    await page.locator('.auth-container input').first().fill(ALICE);
    await page.locator('.auth-btn-wrapper .authorize').first().click();
    await page.locator('.auth-btn-wrapper .btn-done').first().click();
    await start.locator('button.btn-clear').click();
    const shown = await execute(202);
    expect(shown).toContain('"status": "interrupted"');
    const runs = await fetch(`${service.url}/runs`, {
      headers: { authorization: `Bearer ${ALICE}` },
    });
    const { items } = (await runs.json()) as { readonly items: readonly { runId: string }[] };
    expect(items).toHaveLength(1);
    expect(shown).toContain(items[0]?.runId);
    expect(asked.every((url) => url.startsWith(service.url) || url.startsWith('data:'))).toBe(true);
  });
});
