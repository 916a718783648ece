import { AgentError } from '../base/error.ts';
import { pluginSetupFailed } from '../base/error-catalog.ts';

/**
 * What stopped a plugin, under its name: an `AgentError` keeps its code and its mend, anything else
 * becomes `PLUGIN_SETUP_FAILED`.
 */
export function pluginFailure(name: string, cause: unknown): AgentError {
  if (!AgentError.is(cause)) return pluginSetupFailed(name, cause);
  const { code, message, mend, retryable, retryAfterMs } = cause;
  return new AgentError(code, {
    message: `The plugin "${name}": ${message}`,
    mend,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause,
  });
}
