import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sampleWorkspace } from './sample-workspace.ts';

export type ModelServer = {
  /** The address up to `/v1`. */
  readonly baseUrl: string;
  readonly model?: string;
  readonly apiKey?: string;
};

export type Settings = {
  /** 0 takes a free one. */
  readonly port: number;
  /** What a caller shows in `Authorization: Bearer …`. */
  readonly token: string;
  /** The folder that the agent works in. */
  readonly workspace: string;
  /** Undefined: a scripted model, which needs no server. */
  readonly modelServer: ModelServer | undefined;
  /** Milliseconds between two words of the scripted model. */
  readonly paceMs: number;
};

const DATA = join(dirname(fileURLToPath(import.meta.url)), '../.data');

/** The settings of the environment. What is not said is made once and kept in `.data`, so that a second start goes on with the first. */
export function settingsOf(environment: NodeJS.ProcessEnv, data: string = DATA): Settings {
  const {
    HEXAGENT_PORT: port = '8080',
    HEXAGENT_TOKEN: token,
    HEXAGENT_WORKSPACE: workspace,
    HEXAGENT_MODEL_URL: baseUrl,
    HEXAGENT_MODEL: model,
    HEXAGENT_API_KEY: apiKey,
    HEXAGENT_PACE_MS: paceMs = '25',
  } = environment;
  return {
    port: Number(port),
    token: token || keptToken(data),
    workspace: workspace || keptWorkspace(data),
    modelServer: baseUrl
      ? { baseUrl, ...(model ? { model } : {}), ...(apiKey ? { apiKey } : {}) }
      : undefined,
    paceMs: Number(paceMs),
  };
}

function keptToken(data: string): string {
  const file = join(data, 'token');
  if (!existsSync(file)) {
    mkdirSync(data, { recursive: true });
    writeFileSync(file, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
  }
  return readFileSync(file, 'utf8').trim();
}

function keptWorkspace(data: string): string {
  const folder = join(data, 'workspace');
  if (!existsSync(folder)) sampleWorkspace(folder);
  return folder;
}
