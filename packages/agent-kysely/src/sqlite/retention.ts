import type { RunRecords } from '@hexagent/agent-core';
import type { SqliteParts } from './parts.ts';

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
