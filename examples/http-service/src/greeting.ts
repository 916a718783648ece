import type { Settings } from './settings.ts';

const TASK = 'Why does slugify(\\"Crème brûlée\\") give \\"cr-me-br-l-e\\"? Fix it.';

/** What a person who has just started the service wants to know. */
export function greeting(url: string, { token, workspace, modelServer }: Settings): string {
  const model =
    modelServer === undefined
      ? 'scripted: it knows one task (set HEXAGENT_MODEL_URL to use a real one)'
      : `${modelServer.model ?? 'the first that is served'} at ${modelServer.baseUrl}`;
  return `
The code assistant listens on ${url}

  Docs       ${url}/docs ("Authorize" takes the token)
  Token      ${token}
  AG-UI      ${url}/ag-ui/code-assistant
  Model      ${model}
  Workspace  ${workspace}

Try it, in another terminal:

  export URL=${url} TOKEN=${token}
  curl -N "$URL/agents/code-assistant/runs" -H "authorization: Bearer $TOKEN" -H "accept: text/event-stream" --json '{"message":"${TASK}"}'
  curl "$URL/waits?status=pending" -H "authorization: Bearer $TOKEN"
  curl "$URL/waits/WAIT_ID" -H "authorization: Bearer $TOKEN" --json '{"decision":"approve"}'

Ctrl-C ends it in order; once more ends it at once.
`;
}
