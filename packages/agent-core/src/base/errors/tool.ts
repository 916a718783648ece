import { AgentError } from '../error.ts';
import { counted, listed, type Problem } from './problem.ts';

export function toolUnknown(name: string, known: readonly string[]): AgentError {
  return new AgentError('TOOL_UNKNOWN', {
    message: `The model called "${name}", which this agent does not have.`,
    mend: `Known tools: ${known.join(', ') || 'none'}. A new one is added with defineAgent({ tools }).`,
  });
}

/** What was sent to a tool does not fit its input. The tool did not run. */
export function toolInputInvalid(name: string, problems: readonly string[]): AgentError {
  return new AgentError('TOOL_INPUT_INVALID', {
    message: `The input of "${name}" does not fit: ${problems.map((problem) => problem.replace(/\.$/, '')).join('; ')}.`,
    mend: 'Correct each of these and call the tool again; it did not run.',
  });
}

/** What a tool gave back is not JSON, or does not fit its declared output. The tool did run. */
export function toolOutputInvalid(name: string, problems: readonly string[]): AgentError {
  return new AgentError('TOOL_OUTPUT_INVALID', {
    message: `The result of "${name}" cannot be used: ${problems.join('; ')}.`,
    mend: 'The tool ran. Correct what it returns, or the output schema that it declares.',
  });
}

/** A tool threw, or was used where it cannot run. `reason` is its own message. */
export function toolFailed(name: string, reason: string, cause?: unknown): AgentError {
  return new AgentError('TOOL_FAILED', {
    message: `The tool "${name}" failed: ${reason}.`,
    mend: 'Read what the tool says, and change the call or the tool.',
    cause,
  });
}

export function toolTimeout(name: string, timeoutMs: number): AgentError {
  return new AgentError('TOOL_TIMEOUT', {
    message: `"${name}" did not answer within ${timeoutMs} ms.`,
    mend: 'Raise the timeoutMs of the tool, or ask it for less.',
  });
}

export function effectUnknown(name: string, cause: AgentError): AgentError {
  return new AgentError('EFFECT_UNKNOWN', {
    message: `It is not known whether "${name}" took effect: ${cause.message}`,
    mend: 'Look before you try again.',
    cause,
  });
}

/** The caller lacks permissions that a tool asks for. The tool did not run. */
export function toolPermissionDenied(name: string, missing: readonly string[]): AgentError {
  return new AgentError('TOOL_PERMISSION_DENIED', {
    message: `The caller may not use "${name}": it lacks ${missing.join(', ')}.`,
    mend: 'Give the principal these permissions, or call as one who has them; the tool did not run.',
  });
}

/** Two tools of one request have the same name, or the same name on the wire. */
export function toolNameCollision(problems: readonly Problem[]): AgentError {
  return new AgentError('TOOL_NAME_COLLISION', {
    message: `The tools have ${counted(problems)}:\n${listed(problems)}`,
    mend: 'Give each tool a name of its own: prefix the tools of a source. Nothing was sent to the model.',
  });
}
