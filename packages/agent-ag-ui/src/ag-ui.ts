import {
  bind,
  definePlugin,
  HttpMount,
  hostClosing,
  type PluginFactory,
} from '@hexagent/agent-core';
import { agUiMount } from './ag-ui-mount.ts';
import { type AgUiOptions, OPTIONS_SCHEMA } from './options.ts';
import { VERSION } from './version.ts';

const plugin: PluginFactory<AgUiOptions> = definePlugin<AgUiOptions>({
  manifest: {
    name: '@hexagent/agent-ag-ui',
    version: VERSION,
    contract: 1,
    contributes: [HttpMount],
    requires: [],
    options: OPTIONS_SCHEMA,
  },
  setup: (options, context) => {
    const closing = new AbortController();
    context.onClose(async () => closing.abort(hostClosing()));
    return [bind(HttpMount, agUiMount(options, closing.signal))];
  },
});

/** AG-UI 1.0 for the agents of an application: a mount that any HTTP host of it serves. */
export const agUi: PluginFactory<AgUiOptions> &
  ((options?: AgUiOptions) => ReturnType<PluginFactory<AgUiOptions>>) = Object.assign(
  (options: AgUiOptions = {}) => plugin(options),
  { manifest: plugin.manifest },
);
