import { type AppConfig, bind, type Plugin } from '@hexagent/agent-core';
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
} from './src/index.ts';

const {
  HEXAGENT_WORKSPACE: folder = process.cwd(),
  HEXAGENT_STORE: store,
  HEXAGENT_WRITE_LOG: writeLog,
  HEXAGENT_MODEL_URL: baseUrl,
  HEXAGENT_MODEL: model,
  HEXAGENT_API_KEY: apiKey,
} = process.env;

/** A real model when a server is named; else one that plays the demo without any. */
function chosenModel(): Plugin {
  if (!baseUrl) return demoModel({ paceMs: process.stdout.isTTY ? 25 : 0 });
  return vllm({ baseUrl, ...(model ? { model } : {}), ...(apiKey ? { apiKey } : {}) });
}

const config: AppConfig = {
  plugins: [chosenModel(), kyselyStore({ url: store ?? storeIn(folder) })],
  provide: [
    bind(Workspace, localWorkspace(folder, writeLog ? { writeLog } : {})),
    bind(Shell, localShell(folder)),
    bind(Git, localGit(folder)),
  ],
  agents: [codeAssistant],
};

export default config;
