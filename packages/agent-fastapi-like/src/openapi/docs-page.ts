import type { JsonObject } from '@hexagent/agent-core';
import type { FastifyInstance } from 'fastify';
import { pathOf } from '../problems/log-line.ts';
import { HIDDEN } from './hidden.ts';
import { eventsPage } from './pages/events-page.ts';
import { EVENTS_STYLE } from './pages/events-style.ts';
import { ICON } from './pages/icon.ts';
import { pageOf } from './pages/page.ts';
import { PAGE_FILES, type PageFile, pageFile } from './pages/page-files.ts';
import { PAGE_STYLE } from './pages/page-style.ts';
import { ROUTES_STYLE } from './pages/routes-style.ts';
import { START } from './pages/start-script.ts';

/** What the page may load: its own files. It draws with inline styles, so these are let in; inline scripts are not. */
const PAGE_POLICY = {
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'", "'unsafe-inline'"],
    imgSrc: ["'self'", 'data:'],
    fontSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
  useDefaults: false,
};

/** Files of the pages that are written here, by name. */
const OWN_FILES: Readonly<Record<string, { readonly type: string; readonly text: string }>> = {
  'page.css': { type: 'text/css; charset=utf-8', text: PAGE_STYLE },
  'routes.css': { type: 'text/css; charset=utf-8', text: ROUTES_STYLE },
  'events.css': { type: 'text/css; charset=utf-8', text: EVENTS_STYLE },
  'start.js': { type: 'text/javascript; charset=utf-8', text: START },
  'icon.svg': { type: 'image/svg+xml', text: ICON },
};

const routesPage = (title: string): string =>
  pageOf({
    title,
    current: 'routes',
    root: '',
    styles: ['swagger-ui.css', 'page.css', 'routes.css'],
    scripts: ['swagger-ui-bundle.js', 'start.js'],
    body: '<div id="docs"></div>',
  });

/** Paths of the docs, which no route and no mount may claim, with everything below them. */
export const DOCS_PATHS = ['/openapi.json', '/docs'] as const;

/** Every path of the docs that is served. */
export const DOCS_FILES: readonly string[] = [
  ...DOCS_PATHS,
  ...['', 'events', 'events/', ...Object.keys(OWN_FILES), ...Object.keys(PAGE_FILES)].map(
    (name) => `/docs/${name}`,
  ),
];

/** Serves the document of the API, a page to read and try it, and a page about events. Public: they hold no data. */
export function registerDocs(scope: FastifyInstance, document: JsonObject): void {
  const text = JSON.stringify(document);
  const { title } = document['info'] as { readonly title: string };
  const hidden = { schema: HIDDEN, exposeHeadRoute: true };
  const html = { helmet: { contentSecurityPolicy: PAGE_POLICY }, ...hidden };
  scope.get('/openapi.json', hidden, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(text),
  );
  const base = scope.prefix.replace(/\/$/, '');
  const pages = { docs: routesPage(title), 'docs/events': eventsPage(document) };
  for (const [path, page] of Object.entries(pages))
    for (const url of [`/${path}`, `/${path}/`]) {
      // An application may have said that a slash at the end is none: then the first of the two is both.
      if (scope.hasRoute({ method: 'GET', url: `${base}${url}` })) continue;
      scope.get(url, html, async (request, reply) =>
        // The addresses on a page begin at its own.
        pathOf(request.url).endsWith('/')
          ? reply.redirect(`../${path.split('/').at(-1)}`)
          : reply.type('text/html; charset=utf-8').send(page),
      );
    }
  for (const [name, { type, text: content }] of Object.entries(OWN_FILES))
    scope.get(`/docs/${name}`, html, async (_request, reply) => reply.type(type).send(content));
  for (const [name, type] of Object.entries(PAGE_FILES))
    scope.get(`/docs/${name}`, html, async (_request, reply) =>
      reply
        .type(type)
        .header('cache-control', 'public, max-age=3600')
        // The keys of `PAGE_FILES` are what it is indexed by.
        .send(await pageFile(name as PageFile)),
    );
}
