import type { EventLog, RunRecords } from '@hexagent/agent-core';
import type { SqliteParts } from './parts.ts';

/** Removing the front of a log, in one transaction. */
export function sqliteLogRetention({
  connection,
  statements,
}: SqliteParts): Required<Pick<EventLog, 'prune'>> {
  return {
    prune: (rootRunId, { through, signal }) =>
      connection.write(() => {
        const found = connection.one<{ readonly through: number | null; readonly count: number }>(
          statements.prunableEvents,
          [rootRunId, through],
        );
        if (found === undefined || found.through === null) return 0;
        connection.run(statements.pruneEvents, [rootRunId, found.through]);
        connection.run(statements.prunedThrough, [found.through, rootRunId]);
        return found.count;
      }, signal),
  };
}

/** Erasing payloads and removing ended roots. */
export function sqliteRetention({
  connection,
  statements,
}: SqliteParts): Pick<RunRecords, 'erase' | 'prune'> {
  return {
    erase: (rootRunId, evidenceSeqs, { signal }) =>
      connection.write(() => {
        let erased = 0;
        for (const seq of evidenceSeqs) {
          erased += connection.run(statements.eraseEvidence, [rootRunId, seq]);
        }
        return erased;
      }, signal),
    prune: ({ endedBefore, keep, scope, signal }) =>
      connection.write(() => {
        const keepsEvidence = keep === 'evidence';
        const roots = connection.all<{ readonly id: string }>(statements.ended, [
          endedBefore,
          scope?.tenantId ?? null,
          scope?.userId ?? null,
          keepsEvidence ? 1 : 0,
        ]);
        for (const { id } of roots) {
          for (const statement of statements.prune) connection.run(statement, [id]);
          if (keepsEvidence) connection.run(statements.stripRun, [id]);
          else for (const statement of statements.forget) connection.run(statement, [id]);
        }
        return roots.length;
      }, signal),
  };
}
