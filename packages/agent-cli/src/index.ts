export { type AgentCommandsOptions, agentCommands } from './agent-commands.ts';
export { type CliCommand, type CliCommandContext, CliCommands } from './cli-command.ts';
export type { CliIo, InputStream, OutputStream, StopSignal } from './io/cli-io.ts';
export { type CliOptions, type CliPluginFactory, cli } from './plugin.ts';
export { type PrintRunOptions, printRun } from './print-run.ts';
