import {
  type Binding,
  bind,
  definePlugin,
  type Manifest,
  type Plugin,
  type PluginFactory,
} from '@hexagent/agent-core';
import { type CliCommand, CliCommands } from './cli-command.ts';
import { version } from './version.ts';

export type CliOptions = {
  /** Commands of the application beside the built-in ones. */
  readonly commands?: readonly CliCommand[];
};

const contribution: PluginFactory<CliOptions> = definePlugin<CliOptions>({
  manifest: {
    name: '@hexagent/agent-cli',
    version,
    contract: 1,
    contributes: [CliCommands],
    requires: [],
    options: { type: 'object', properties: {}, additionalProperties: true },
  },
  setup: ({ commands = [] }): readonly Binding[] => [bind(CliCommands, commands)],
});

/** Makes the contribution of this package. Its options may be left out. */
export interface CliPluginFactory {
  (options?: CliOptions): Plugin;
  readonly manifest: Manifest;
}

/**
 * The contribution of this package: commands of the application for `hexagent`, beside the built-in ones.
 */
export const cli: CliPluginFactory = Object.assign(
  (options: CliOptions = {}) => contribution(options),
  { manifest: contribution.manifest },
);
