import type { CliIo } from '../io/cli-io.ts';

/** Everything that stdin gives, as text. Rejects with the signal's reason. */
export async function readStdin(
  { stdin }: CliIo,
  { signal }: { readonly signal: AbortSignal },
): Promise<string> {
  const chunks: Buffer[] = [];
  const stop = (): void => {
    stdin.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return Buffer.concat(chunks).toString('utf8');
}
