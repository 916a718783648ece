import {
  createWorker,
  type JsonObject,
  type Problem,
  type RunGateway,
  type Worker,
  type WorkerOptions,
  type WorkerReport,
} from '@hexagent/agent-core';
import type { FastifyBaseLogger } from 'fastify';
import { LOCAL_PRINCIPAL } from '../access/principal.ts';

/** How the host goes on with runs that nobody drives, or false: it does not. */
export type HostWorker = WorkerOptions | false;

type WorkerLog = Pick<FastifyBaseLogger, 'info' | 'warn' | 'debug'>;

/** Their JSON Schema, for the manifest; which numbers fit is the same for every worker. */
export const WORKER_SCHEMA: JsonObject = {
  type: ['object', 'boolean'],
  properties: {
    concurrency: { type: 'integer', minimum: 1, maximum: 1_000 },
    perAgent: { type: 'integer', minimum: 1, maximum: 1_000 },
    pollMs: { type: 'integer', minimum: 10, maximum: 600_000 },
    graceMs: { type: 'integer', minimum: 0, maximum: 3_600_000 },
    report: {},
  },
  additionalProperties: false,
};

/** What a schema of plain data cannot see of them. */
export function workerProblems(worker: unknown): readonly Problem[] {
  const at = 'httpHost.options.worker';
  if (worker === true)
    return [{ at, seen: 'is true.', mend: 'Leave it out: a host with a durable agent has one.' }];
  if (typeof worker !== 'object' || worker === null || !('report' in worker)) return [];
  const type = typeof worker.report;
  if (type === 'function' || type === 'undefined') return [];
  return [{ at: `${at}.report`, seen: `is a ${type}.`, mend: 'Give a function, or leave it out.' }];
}

/**
 * Starts the worker of a host, where there is anything to claim: without one the runs of a process that died would wait for ever. It is
 * drained with the host.
 */
export function startWorker(
  gateway: RunGateway,
  { worker, log }: { readonly worker: HostWorker; readonly log: WorkerLog },
): Worker | undefined {
  if (worker === false) return undefined;
  const looking = { principal: LOCAL_PRINCIPAL, signal: new AbortController().signal };
  if (!gateway.agents(looking).some(({ durable }) => durable)) return undefined;
  const report = (what: WorkerReport): void => {
    logReport(log, what);
    worker.report?.(what);
  };
  const started = createWorker({ runs: gateway }, { ...worker, report });
  started.start();
  return started;
}

function logReport(log: WorkerLog, report: WorkerReport): void {
  const { runId } = report;
  const about = runId === undefined ? {} : { run: runId };
  if (report.type === 'failed') {
    log.warn({ ...about, err: report.error }, 'the worker failed');
    return;
  }
  const { agent } = report;
  if (report.type === 'claimed')
    log.info({ ...about, agent, deliveries: report.deliveries }, 'run claimed');
  else log.debug({ ...about, agent, rest: report.rest }, 'claimed run rested');
}
