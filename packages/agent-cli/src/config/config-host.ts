import type { CommandHost, OpenedApp } from '../commands/host.ts';
import type { ExitCode } from '../exit-code.ts';
import type { CliIo } from '../io/cli-io.ts';
import { type Bootstrap, bootstrapFor } from './core-of-config.ts';
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
      const compose = bootstrap ?? (await bootstrapFor(path));
      const app = await compose(start ? composition : { ...composition, start: false });
      const local = app.local(SUBJECT);
      return { app, caller: { ...local, signal }, close: () => app.close() };
    },
  };
}
