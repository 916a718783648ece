import { fakeGateway } from './fake-gateway.ts';
import { startHost } from './fake-setup.ts';

/** Serves with the log open, and asks with secrets in every place that a request has. */
const host = await startHost(fakeGateway(), {
  logLevel: 'debug',
  authenticate: ({ headers }) => {
    if (headers.has('x-throw')) throw new Error(`no ${headers.get('authorization')}`);
    return { scope: { tenantId: 't' }, subject: 's', roles: [], permissions: [] };
  },
});
const headers = {
  authorization: 'Bearer secret-token',
  cookie: 'session=secret-cookie',
  'x-request-id': 'mine',
  'idempotency-key': 'secret-key',
  'content-type': 'application/json',
  prefer: 'respond-async',
};
await fetch(`${host.url}/runs?after=secret-query`, { headers });
await fetch(`${host.url}/nowhere?token=secret-query`, { headers });
await fetch(`${host.url}/runs`, { headers: { ...headers, 'x-throw': '1' } });
const body = JSON.stringify({ message: 'secret-body' });
await fetch(`${host.url}/agents/echo/runs`, { method: 'POST', headers, body });
await fetch(`${host.url}/agents/echo/runs`, { method: 'POST', headers, body: body.slice(1) });
await fetch(`${host.url}/runs/r1`, { headers });
await host.close();
