import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM_FLAGS, chromiumPath } from '../src/chromium.ts';
import { type Service, startService } from '../src/service-process.ts';

const executablePath = chromiumPath();
console.log(
  executablePath === undefined
    ? 'The docs page is not looked at: there is no Chromium. Name one with HEXAGENT_TEST_CHROMIUM.'
    : `The docs page is looked at in ${executablePath}.`,
);

describe.skipIf(executablePath === undefined)('the docs page', () => {
  let service: Service;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const asked: string[] = [];

  beforeAll(async () => {
    service = await startService();
    browser = await chromium.launch({
      ...(executablePath === undefined ? {} : { executablePath }),
      args: [...CHROMIUM_FLAGS],
    });
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
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
    await service?.stop();
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
});
