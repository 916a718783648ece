import { AgentError, isHeaderText, modelAuthentication } from '@hexagent/agent-core/adapter';

/** A key that is fetched when it is needed and kept until the server does not take it any more. */
export interface TokenSource {
  /** Asks for it once, however many wait. Rejects with `MODEL_AUTHENTICATION` when there is none. */
  token(): Promise<string>;
  /** Another one than the one that was refused. Asks only if nobody has since. */
  renewed(refused: string): Promise<string>;
  /** What must not be shown: the tokens that may still be on their way. */
  readonly secrets: readonly string[];
}

/** How many tokens are remembered as secrets: requests may still be out with the one before. */
const REMEMBERED = 3;

export function tokenSource(give: () => string | Promise<string>): TokenSource {
  const secrets: string[] = [];
  let current: string | undefined;
  let asking: Promise<string> | undefined;

  const asked = async (): Promise<string> => {
    const token = checked(await give());
    current = token;
    secrets.push(token);
    if (secrets.length > REMEMBERED) secrets.shift();
    return token;
  };
  const ask = (): Promise<string> => {
    if (asking !== undefined) return asking;
    const over = (): void => {
      asking = undefined;
    };
    asking = asked();
    asking.then(over, over);
    return asking;
  };

  return {
    token: () => (current === undefined ? ask() : Promise.resolve(current)),
    renewed: (refused) => {
      if (current !== undefined && current !== refused) return Promise.resolve(current);
      current = undefined;
      return ask();
    },
    secrets,
  };
}

function checked(token: unknown): string {
  if (typeof token === 'string' && token !== '' && isHeaderText(token)) return token;
  throw modelAuthentication({
    reason: 'the function of apiKey gave no text that a header can carry',
    mend: 'Let it give the token alone, without a line break.',
  });
}

/** What the function of the key failed of. An `AgentError` is left as it is: it says whether another try may help. */
export function tokenError(error: unknown): AgentError {
  if (AgentError.is(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return modelAuthentication({
    reason: `the function of apiKey failed: ${reason}`,
    mend: 'Check where the token comes from.',
    cause: error,
  });
}
