import type { JsonObject } from '@hexagent/agent-core';
import type { FastifyInstance } from 'fastify';
import { eventsPage } from './events-page.ts';
import { HIDDEN } from './hidden.ts';
import { escaped } from './html.ts';
import { PAGE_FILES, type PageFile, pageFile } from './page-files.ts';

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

const page = (title: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
</head>
<body>
<div id="docs"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({
  dom_id: '#docs',
  url: new URL('openapi.json', window.location.href).href,
  validatorUrl: null,
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
});
`;

/** Paths of the docs, which no route and no mount may claim, with everything below them. */
export const DOCS_PATHS = ['/openapi.json', '/docs'] as const;

/** Every path of the docs that is served. */
export const DOCS_FILES: readonly string[] = [
  ...DOCS_PATHS,
  ...['events', 'start.js', ...Object.keys(PAGE_FILES)].map((name) => `/docs/${name}`),
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
  scope.get('/docs', html, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page(title)),
  );
  scope.get('/docs/events', html, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(eventsPage(document)),
  );
  scope.get('/docs/start.js', html, async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(START),
  );
  for (const [name, type] of Object.entries(PAGE_FILES))
    scope.get(`/docs/${name}`, html, async (_request, reply) =>
      reply
        .type(type)
        .header('cache-control', 'public, max-age=3600')
        // The keys of `PAGE_FILES` are what it is indexed by.
        .send(await pageFile(name as PageFile)),
    );
}
