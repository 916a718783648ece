import {
  type Binding,
  bind,
  definePlugin,
  type Manifest,
  type Plugin,
  type PluginFactory,
} from '@hexagent/agent-core';
import { CliCommand } from './cli-command.ts';
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
    contributes: [CliCommand],
    requires: [],
    options: { type: 'object', properties: {} },
  },
  setup: ({ commands = [] }): readonly Binding[] =>
    commands.map((command) => bind(CliCommand, command)),
});

/** Makes the contribution of this package. Its options may be left out. */
export interface CliPluginFactory {
  (options?: CliOptions): Plugin;
  readonly manifest: Manifest;
}

/**
 * The contribution of this package: commands of the application for `hexagent`. Without options it
 * contributes nothing; `hexagent` itself does not need it.
 */
export const cli: CliPluginFactory = Object.assign(
  (options: CliOptions = {}) => contribution(options),
  { manifest: contribution.manifest },
);
