import { createWorker } from '@hexagent/agent-core';
import type { CommandHost, OpenedApp } from '../commands/host.ts';
import type { ExitCode } from '../exit-code.ts';
import type { CliIo } from '../io/cli-io.ts';
import { type Bootstrap, coreFor } from './core-of-config.ts';
import { findConfig } from './find-config.ts';
import { loadConfig } from './load-config.ts';

/** Who the command acts as. */
const SUBJECT = 'local';

/** A host that composes the application of the configuration file. */
export function configHost(
  io: CliIo,
  {
    finish,
    bootstrap,
  }: {
    readonly finish: (code: ExitCode) => void;
    /** Default: that of the copy of agent-core that the configuration imports. */
    readonly bootstrap?: Bootstrap;
  },
): CommandHost {
  return {
    io,
    finish,
    open: async ({ start, config, signal }): Promise<OpenedApp> => {
      const path = findConfig({ cwd: io.cwd, config });
      const composition = await loadConfig(path);
      signal.throwIfAborted();
      const core = bootstrap === undefined ? await coreFor(path) : { bootstrap, createWorker };
      const app = await core.bootstrap(start ? composition : { ...composition, start: false });
      const caller = { ...app.local(SUBJECT), signal };
      return { app, caller, createWorker: core.createWorker, close: () => app.close() };
    },
  };
}
