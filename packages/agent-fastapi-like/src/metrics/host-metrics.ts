import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { OpenKind } from '../operation/open-requests.ts';

/** How a run came to rest. */
export type RestKind = 'completed' | 'failed' | 'cancelled' | 'paused';

/** What one host counts, in a registry of its own: two hosts of a process do not mix. */
export interface HostMetrics {
  readonly registry: Registry;
  answered(answer: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly seconds: number;
  }): void;
  eventsSent(count: number): void;
  rateLimited(): void;
  runStarted(agent: string): void;
  runRested(agent: string, outcome: RestKind): void;
}

/** Upper bounds in seconds: an answer from memory, from a store, of a model. */
const BUCKETS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];

export function hostMetrics(open: () => Readonly<Record<OpenKind, number>>): HostMetrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'hexagent_http_requests_total',
    help: 'Answered requests.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const seconds = new Histogram({
    name: 'hexagent_http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer; of a stream, how long it was open.',
    labelNames: ['method', 'route'],
    buckets: BUCKETS,
    registers,
  });
  new Gauge({
    name: 'hexagent_http_open',
    help: 'Requests that are being answered, event streams and WebSockets.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, count] of Object.entries(open())) this.set({ kind }, count);
    },
  });
  const events = new Counter({
    name: 'hexagent_events_sent_total',
    help: 'Events that readers were given, over streams and WebSockets.',
    registers,
  });
  const limited = new Counter({
    name: 'hexagent_http_rate_limited_total',
    help: 'Requests and messages that were refused because their caller asks too often.',
    registers,
  });
  const started = new Counter({
    name: 'hexagent_runs_started_total',
    help: 'Runs that were started or forked through this host.',
    labelNames: ['agent'],
    registers,
  });
  const rested = new Counter({
    name: 'hexagent_runs_rested_total',
    help: 'How runs that were started through this host have paused and ended.',
    labelNames: ['agent', 'outcome'],
    registers,
  });
  processMetrics(registers);
  return {
    registry,
    answered: ({ method, route, status, seconds: taken }) => {
      requests.inc({ method, route, status });
      seconds.observe({ method, route }, taken);
    },
    eventsSent: (count) => events.inc(count),
    rateLimited: () => limited.inc(),
    runStarted: (agent) => started.inc({ agent }),
    runRested: (agent, outcome) => rested.inc({ agent, outcome }),
  };
}

/** Of the process only what is read when it is asked for: the library's own set leaves observers behind when a host is closed. */
function processMetrics(registers: Registry[]): void {
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory of the process.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: 'nodejs_heap_size_used_bytes',
    help: 'Used heap of the process.',
    registers,
    collect() {
      this.set(process.memoryUsage().heapUsed);
    },
  });
  new Gauge({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the process, user and system.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.set((user + system) / 1e6);
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'When the process began, in seconds since 1970.',
    registers,
  }).set(performance.timeOrigin / 1_000);
}
