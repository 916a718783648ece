import { loadOf } from './limit-probes.ts';
import { finding, type Probe, type ProbeResult, question } from './probe.ts';
import type { ProbeBench } from './probe-bench.ts';

/** How long a server may take to notice that its client has gone. */
const NOTICE_MS = 3000;
const BETWEEN_LOOKS_MS = 100;

/** Whether the server stops generating for a client that has gone. Seen by its own load; closing the connection is seen by nobody. */
export const abortProbe: Probe = {
  name: 'abort',
  look: async (bench, signal): Promise<ProbeResult> => {
    const before = await loadOf(bench, signal);
    const during = await leaving(bench, signal);
    const unseen = (detail: string): ProbeResult => ({
      findings: [finding('abort', 'unknown', detail)],
    });
    if (before === undefined || during === undefined) {
      return unseen('the connection was closed; without /metrics its end cannot be seen');
    }
    if (during <= before.running) return unseen('the answer was over before it could be left');
    for (let waited = 0; waited < NOTICE_MS; waited += BETWEEN_LOOKS_MS) {
      const after = await loadOf(bench, signal);
      if (after !== undefined && after.running < during) {
        return { findings: [finding('abort', 'yes', 'the server stops when the client leaves')] };
      }
      await bench.settings.clock.sleep(BETWEEN_LOOKS_MS, { signal });
    }
    const detail = `it still generated ${NOTICE_MS / 1000} seconds after the client had left`;
    return { findings: [finding('abort', 'no', detail)] };
  },
};

/** Begins a long answer and leaves it at its first byte; how many requests ran meanwhile. */
async function leaving(bench: ProbeBench, signal: AbortSignal): Promise<number | undefined> {
  const { connection, settings, model } = bench;
  const url = `${settings.baseUrl}/chat/completions`;
  const asked = question('Count to 20.', 512);
  // What is unknown to a server is passed over; it keeps the answer from ending by itself.
  const body = JSON.stringify({ model, ...settings.fields, ...asked, ignore_eos: true });
  return connection.open(
    { method: 'POST', url, accept: 'text/event-stream', body },
    {
      signal,
      read: async (response, watch) => {
        await response.read();
        const during = await loadOf(bench, signal);
        response.close(undefined);
        watch.release();
        return during?.running;
      },
    },
  );
}
