import { fileURLToPath } from 'node:url';
import { type App, bootstrap, defineAgent } from '@hexagent/agent-core';
import { scriptedModel } from '@hexagent/agent-core/testing';
import { HttpServer, httpHost } from '@hexagent/agent-fastapi-like';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM_FLAGS, chromiumPath } from '../src/chromium.ts';
import { ALICE } from '../src/contract.ts';
import { type CountingProcess, countingProcess } from '../src/counting-process.ts';

const executablePath = chromiumPath();
console.log(
  executablePath === undefined
    ? 'The docs page is not looked at: there is no Chromium. Name one with HEXAGENT_TEST_CHROMIUM.'
    : `The docs page is looked at in ${executablePath}.`,
);

const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };
type Look = { readonly viewport?: typeof DESKTOP; readonly colorScheme?: 'light' | 'dark' };

// A page is slow to come on a machine that is busy.
describe.skipIf(executablePath === undefined)('the docs pages', { timeout: 120_000 }, () => {
  let service: CountingProcess;
  let browser: Browser;
  // One for all pages: it keeps the files.
  let context: BrowserContext;
  const complaints: string[] = [];
  const asked: string[] = [];

  beforeAll(async () => {
    service = await countingProcess({ tokens: true });
    browser = await chromium.launch({
      ...(executablePath === undefined ? {} : { executablePath }),
      args: [...CHROMIUM_FLAGS],
    });
    context = await browser.newContext();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });
  afterEach(async () => {
    await Promise.all(context.pages().map((page) => page.close()));
    expect(asked.filter((url) => !url.startsWith('http://127.0.0.1:'))).toEqual([]);
    expect(complaints.splice(0)).toEqual([]);
  });

  /** A page whose complaints and requests are kept. */
  async function opened(
    address: string,
    { viewport = DESKTOP, colorScheme = 'light' }: Look = {},
  ): Promise<Page> {
    const page = await context.newPage();
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    page.on('console', (message) => {
      // A refusal is what a test has asked for; the browser tells each as an error.
      if (message.type() === 'error' && !message.text().includes('401'))
        complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) asked.push(request.url());
    });
    await page.goto(address);
    if (new URL(address).pathname.endsWith('/docs')) await page.waitForSelector('.opblock');
    return page;
  }

  const START = '#operations-agents-startRun';
  const open = async (page: Page): Promise<void> => {
    await page.locator(`${START} .opblock-summary-control`).click();
    await page.locator(`${START} .responses-wrapper`).waitFor();
  };
  const authorize = async (page: Page): Promise<void> => {
    await page.locator('.auth-wrapper .authorize').first().click();
    await page.locator('.auth-container input').first().fill(ALICE);
    await page.locator('.auth-btn-wrapper .authorize').first().click();
    await page.locator('.auth-btn-wrapper .btn-done').first().click();
  };
  // The tests are compiled without the types of a browser: what runs in one is text.
  /** How far a page is wider than the screen. */
  const overflow = (page: Page): Promise<number> =>
    page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  const background = (page: Page, of: string): Promise<string> =>
    page.evaluate(`getComputedStyle(document.querySelector('${of}')).backgroundColor`);

  test('show every operation', async () => {
    const page = await opened(`${service.url}/docs`, { viewport: { width: 1280, height: 1400 } });
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      readonly paths: Readonly<Record<string, object>>;
    };
    const operations = Object.values(document.paths).flatMap((path) => Object.keys(path));
    expect(await page.locator('.opblock').count()).toBe(operations.length);
    const shot = process.env['HEXAGENT_DOCS_SCREENSHOT'];
    if (shot !== undefined)
      await page.screenshot({
        path: fileURLToPath(new URL(`../../../${shot}`, import.meta.url)),
      });
  });

  test('lead to each other', async () => {
    const page = await opened(`${service.url}/docs`);
    await page.locator('.bar').getByRole('link', { name: 'Events' }).click();
    await page.waitForURL('**/docs/events');
    await page.locator('#run-paused').waitFor();
    await page.locator('.contents').getByRole('link', { name: 'message-delta' }).click();
    expect(new URL(page.url()).hash).toBe('#message-delta');
    await page.locator('.bar').getByRole('link', { name: 'Routes' }).click();
    await page.waitForSelector('.opblock');
    expect(new URL(page.url()).pathname).toBe('/docs');
  });

  test('try a start out for whoever has said who asks, and for nobody else', async () => {
    const page = await opened(`${service.url}/docs`);
    await open(page);
    const start = page.locator(START);
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

    await authorize(page);
    await start.locator('button.btn-clear').click();
    const shown = await execute(202);
    expect(shown).toContain('"status": "interrupted"');
    const runs = await fetch(`${service.url}/runs`, {
      headers: { authorization: `Bearer ${ALICE}` },
    });
    const { items } = (await runs.json()) as { readonly items: readonly { runId: string }[] };
    expect(items).toHaveLength(1);
    expect(shown).toContain(items[0]?.runId);
  });

  test.each([
    ['a desktop', DESKTOP],
    ['a phone', PHONE],
  ])(
    'bring an answer into sight on %s, before the command that asks for it',
    async (_name, viewport) => {
      const page = await opened(`${service.url}/docs`, { viewport });
      await open(page);
      const start = page.locator(START);
      await start.locator('[data-param-name="agent"] input').fill('clerk');
      await start.locator('button.execute').click();
      const body = `${START} .live-responses-table .highlight-code`;
      await page.locator(body).waitFor();
      // Asked again from here: the policy of the page lets nothing ask by itself.
      const isInSight = (): Promise<boolean> =>
        page.evaluate(`(() => {
          const { top, bottom } = document.querySelector('${body}').getBoundingClientRect();
          return top >= 0 && bottom <= window.innerHeight;
        })()`);
      await expect.poll(isInSight, { timeout: 20_000 }).toBe(true);
      const place = async (of: string): Promise<number> =>
        (await start.locator(of).boundingBox())?.y ?? 0;
      expect(await place('.live-responses-table')).toBeLessThan(await place('.curl-command'));
    },
  );

  test('show the problems of an operation as rows, and the form of all of them once', async () => {
    const page = await opened(`${service.url}/docs`);
    await open(page);
    const rows = page.locator(`${START} .responses-table .response.problem`);
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      readonly paths: Readonly<
        Record<string, { readonly post: { readonly responses: Readonly<Record<string, object>> } }>
      >;
    };
    const { responses = {} } = document.paths['/agents/{agent}/runs']?.post ?? {};
    const statuses = Object.keys(responses).filter((status) => Number(status) >= 400);
    expect(await rows.locator('.response-col_status').allTextContents()).toEqual(statuses);
    expect(await rows.locator('.model-example').count()).toBe(0);
    expect(await rows.nth(statuses.indexOf('404')).textContent()).toContain('AGENT_UNKNOWN');
    const form = page.locator(`${START} .response[data-code="default"] .model-example`);
    expect(await form.textContent()).toContain('"code": "RUN_NOT_FOUND"');
  });

  test('offer nothing that leads nowhere: no cancel, no choice of one server, no links', async () => {
    const page = await opened(`${service.url}/docs`);
    await open(page);
    for (const selector of [
      '.try-out__btn.cancel',
      '.schemes-server-container',
      '.response-col_links',
    ]) {
      expect([selector, await page.locator(selector).count()]).not.toEqual([selector, 0]);
      expect([selector, await page.locator(`${selector}:visible`).count()]).toEqual([selector, 0]);
    }
    const title = await page.locator('.info .title').boundingBox();
    const button = await page.locator('.auth-wrapper .authorize').boundingBox();
    const first = await page.locator('.opblock-tag').first().boundingBox();
    expect(title?.y).toBeLessThan(100);
    expect(button?.y).toBeLessThan(120);
    expect(first?.y).toBeLessThan(200);
  });

  test('say what kind of token is asked for', async () => {
    const page = await opened(`${service.url}/docs`);
    await page.locator('.auth-wrapper .authorize').first().click();
    expect(await page.locator('.auth-container').textContent()).toContain(
      'without the word Bearer',
    );
    expect((await page.locator('.modal-ux').boundingBox())?.width).toBeLessThan(700);
  });

  test('fit a phone: themes and names stand over what belongs to them', async () => {
    const page = await opened(`${service.url}/docs`, { viewport: PHONE });
    await open(page);
    expect(await overflow(page)).toBe(0);
    const box = async (selector: string) => {
      const found = await page.locator(selector).first().boundingBox();
      if (found === null) throw new Error(`There is no ${selector}.`);
      return found;
    };
    const theme = await box('#operations-tag-evidence > a');
    const words = await box('#operations-tag-evidence small');
    expect(words.y).toBeGreaterThanOrEqual(theme.y + theme.height);
    expect(words.width).toBeGreaterThan(300);
    const name = await box(`${START} td.parameters-col_name`);
    const field = await box(`${START} .parameters-col_description input`);
    expect(field.y).toBeGreaterThanOrEqual(name.y + name.height);
    expect(field.width).toBeGreaterThan(280);

    const events = await opened(`${service.url}/docs/events`, { viewport: PHONE });
    expect(await overflow(events)).toBe(0);
    for (const summary of await events.locator('summary').all()) await summary.click();
    expect(await overflow(events)).toBe(0);
  });

  test('are dark for whoever has it dark, also when that changes', async () => {
    const light = 'rgb(255, 255, 255)';
    for (const path of ['/docs', '/docs/events']) {
      const page = await opened(`${service.url}${path}`, { colorScheme: 'dark' });
      const surface = path === '/docs' ? '.swagger-ui' : 'body';
      const dark = await background(page, 'body');
      expect([path, dark]).not.toEqual([path, light]);
      // A page hears of another scheme a little later than whoever has changed it.
      const soon = (of: string) => expect.poll(() => background(page, of), { timeout: 30_000 });
      await soon(surface).toBe(dark);
      await page.emulateMedia({ colorScheme: 'light' });
      await soon('body').toBe(light);
      await soon(surface).not.toBe(dark);
    }
  });

  test('unfold the shape of an event where it stands', async () => {
    const page = await opened(`${service.url}/docs/events`);
    const row = page.locator('#message-delta');
    expect(await row.locator('pre').isVisible()).toBe(false);
    await row.locator('summary').click();
    expect(await row.locator('pre').textContent()).toContain('delta: string;');
  });

  test('offer the examples of a field', async () => {
    const app: App = await bootstrap({
      plugins: [
        scriptedModel([]),
        httpHost({
          port: 0,
          logLevel: 'silent',
          routes: (api) =>
            api.get(
              '/colors',
              {
                id: 'listColors',
                query: {
                  type: 'object',
                  properties: {
                    near: { type: 'string', examples: ['green'] },
                    tone: { type: 'string', enum: ['warm'], examples: ['warm'] },
                  },
                },
              },
              () => undefined,
            ),
        }),
      ],
      agents: [defineAgent({ name: 'painter' })],
    });
    try {
      const page = await opened(`${app.all(HttpServer)[0]?.url}/docs`);
      const operation = page.locator('#operations-application-listColors');
      await operation.locator('.opblock-summary-control').click();
      await operation.getByRole('button', { name: 'green' }).click();
      expect(await operation.locator('[data-param-name="near"] input').inputValue()).toBe('green');
      expect(await operation.locator('.offer').count()).toBe(1);
      await operation.locator('button.execute').click();
      const url = operation.locator('.request-url pre');
      await url.waitFor();
      expect(await url.textContent()).toContain('/colors?near=green');
    } finally {
      await app.close();
    }
  });
});
