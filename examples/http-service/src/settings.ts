import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inputInvalid, type Problem } from '@hexagent/agent-core';
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

/**
 * The settings of the environment. What is not said is made once and kept in `.data`, so that a second start goes on with the first.
 *
 * @throws AgentError `INPUT_INVALID` with every variable that is not right
 */
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
  const problems = [
    ...numberProblems({ HEXAGENT_PORT: port, HEXAGENT_PACE_MS: paceMs }),
    ...folderProblems(workspace),
  ];
  if (problems.length > 0) throw inputInvalid('The environment', problems);
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

function numberProblems(variables: Readonly<Record<string, string>>): readonly Problem[] {
  return Object.entries(variables).flatMap(([at, value]) =>
    /^\d{1,5}$/.test(value)
      ? []
      : [{ at, seen: `is "${value}".`, mend: 'Give a number, or leave it out.' }],
  );
}

/** A store is made inside, and would make a folder whose name is mistyped. */
function folderProblems(workspace: string | undefined): readonly Problem[] {
  if (!workspace || statSync(workspace, { throwIfNoEntry: false })?.isDirectory()) return [];
  const seen = `is "${workspace}", which is not a folder.`;
  return [{ at: 'HEXAGENT_WORKSPACE', seen, mend: 'Give one that exists, or leave it out.' }];
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
