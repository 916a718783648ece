import { agUi } from '@hexagent/agent-ag-ui';
import { type AppConfig, bind, type Plugin, type Principal } from '@hexagent/agent-core';
import { bearer, httpHost } from '@hexagent/agent-fastapi-like';
import { kyselyStore } from '@hexagent/agent-kysely';
import { vllm } from '@hexagent/agent-vllm';
import {
  codeAssistant,
  demoModel,
  Git,
  localGit,
  localShell,
  localWorkspace,
  Shell,
  storeIn,
  Workspace,
} from '@hexagent/example-code-assistant';
import type { Settings } from './settings.ts';
import { workspaceRoutes } from './workspace-routes.ts';

/** Whom the token stands for. Runs belong to a person of a tenant, not to a token: a new token finds the old runs. */
const DEVELOPER: Principal = {
  scope: { tenantId: 'example', userId: 'developer' },
  subject: 'developer',
  roles: [],
  permissions: [],
};

/** The application: the code assistant, a store, and two ways in. */
export function httpService(settings: Settings): AppConfig {
  const { port, token, workspace } = settings;
  return {
    plugins: [
      chosenModel(settings),
      kyselyStore({ url: storeIn(workspace) }),
      httpHost({
        port,
        authenticate: bearer({ tokens: { [token]: DEVELOPER } }),
        routes: workspaceRoutes,
        docs: { title: 'The code assistant over HTTP' },
        logLevel: 'warn',
      }),
      agUi(),
    ],
    provide: [
      bind(Workspace, localWorkspace(workspace)),
      bind(Shell, localShell(workspace)),
      bind(Git, localGit(workspace)),
    ],
    agents: [codeAssistant],
    // One process, started again by hand: after a crash its runs need not wait for the usual 30 seconds.
    leaseMs: 5_000,
  };
}

function chosenModel({ modelServer, paceMs }: Settings): Plugin {
  return modelServer === undefined ? demoModel({ paceMs }) : vllm(modelServer);
}
