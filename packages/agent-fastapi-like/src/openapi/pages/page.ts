import { escaped } from './html.ts';

export type PageParts = {
  readonly title: string;
  /** Which of the two pages it is. */
  readonly current: 'routes' | 'events';
  /** From the page to where the routes begin: pages find each other by relative addresses, below any prefix. */
  readonly root: '' | '../';
  readonly styles: readonly string[];
  readonly scripts?: readonly string[];
  readonly body: string;
};

/** A page of the docs: the bar that leads to the others, and what is its own. */
export function pageOf({ title, current, root, styles, scripts = [], body }: PageParts): string {
  const link = (page: PageParts['current'], to: string, words: string): string =>
    `<a href="${root}${to}"${page === current ? ' aria-current="page"' : ''}>${words}</a>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
${styles.map((name) => `<link rel="stylesheet" href="${root}docs/${name}">`).join('\n')}
<link rel="icon" type="image/svg+xml" href="${root}docs/icon.svg">
</head>
<body>
<header class="bar">
<nav aria-label="Pages">
<img src="${root}docs/icon.svg" alt="" width="22" height="22">
${link('routes', 'docs', 'Routes')}
${link('events', 'docs/events', 'Events')}
<a class="document" href="${root}openapi.json">openapi.json</a>
</nav>
</header>
${body}
${scripts.map((name) => `<script src="${root}docs/${name}"></script>`).join('\n')}
</body>
</html>
`;
}
