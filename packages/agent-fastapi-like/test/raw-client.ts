import { connect } from 'node:net';

/** Sends bytes as they are, and reads what comes until the host closes the connection. */
export async function rawAsk(url: string, bytes: string): Promise<string> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.on('data', (data) => {
    answer += data;
  });
  socket.on('error', () => undefined);
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  return answer;
}

/** The head of a request that asks for its connection to be closed. */
export function headOf(line: string, headers: Readonly<Record<string, string>> = {}): string {
  const given = { host: 'localhost', connection: 'close', ...headers };
  const lines = Object.entries(given).map(([name, value]) => `${name}: ${value}`);
  return [line, ...lines, '', ''].join('\r\n');
}
