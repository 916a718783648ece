import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The service in a process of its own. */
export type Service = {
  readonly url: string;
  readonly port: number;
  readonly process: ChildProcess;
  stop(): Promise<void>;
};

export async function startService(): Promise<Service> {
  const file = fileURLToPath(new URL('./service.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=development', '--import', 'tsx', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`it ended with ${code}`))),
  ]);
  const { url } = JSON.parse(String(line)) as { readonly url: string };
  return {
    url,
    port: Number(new URL(url).port),
    process: child,
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
