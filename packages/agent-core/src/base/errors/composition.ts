import { AgentError } from '../error.ts';
import { counted, listed, type Problem } from './problem.ts';
import { wordsOf } from './words-of.ts';

/** A tool, an agent, a port or a plugin is declared wrongly. All problems of the definition, at once. */
export function definitionInvalid(subject: string, problems: readonly Problem[]): AgentError {
  return new AgentError('DEFINITION_INVALID', {
    message: `${subject} has ${counted(problems)}:\n${listed(problems)}`,
    mend: 'Correct each line above; nothing was defined.',
  });
}

/** The composition of an application is wrong. All problems at once; nothing was started. */
export function bootstrapInvalid(problems: readonly Problem[]): AgentError {
  return new AgentError('BOOTSTRAP_INVALID', {
    message: `bootstrap found ${counted(problems)}:\n${listed(problems)}`,
    mend: 'Correct each line above; nothing was started.',
  });
}

/** A durable agent without a store. */
export function persistenceMissing(agents: readonly string[]): AgentError {
  return new AgentError('PERSISTENCE_MISSING', {
    message: `${agents.map((name) => `"${name}"`).join(', ')} must be durable, and nothing is bound to DurableStore: StateRepository, SignalRepository and EvidenceRepository are missing.`,
    mend: 'Add a plugin that contributes "durability": npm install @hexagent/agent-kysely libsql, then kyselyStore({ url: "file:hexagent.db" }). There is no in-memory fallback outside tests.',
  });
}

export function modelMissing(agent: string): AgentError {
  return new AgentError('MODEL_MISSING', {
    message: `"${agent}" needs a model, and nothing is bound to the port "model".`,
    mend: 'Add a model plugin: npm install @hexagent/agent-vllm, then vllm({ baseUrl: "http://127.0.0.1:8000/v1" }).',
  });
}

export function pluginSetupFailed(name: string, cause: unknown): AgentError {
  return new AgentError('PLUGIN_SETUP_FAILED', {
    message: `The plugin "${name}" could not be set up: ${wordsOf(cause)}`,
    mend: AgentError.is(cause) ? cause.mend : 'Look at the cause; nothing was started.',
    cause,
  });
}

export function portUnbound(port: string, asked: string): AgentError {
  return new AgentError('PORT_UNBOUND', {
    message: `${asked} asked for the port "${port}", and nothing is bound to it.`,
    mend: `Add a plugin that contributes "${port}", or provide: [bind(…)].`,
  });
}

export function appClosed(): AgentError {
  return new AgentError('APP_CLOSED', {
    message: 'The application is closed.',
    mend: 'Bootstrap a new one; a durable run goes on where it was.',
  });
}
