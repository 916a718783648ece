import { json, type Route, route } from '../api/route.ts';
import { ChainReport, EvidencePage } from '../schemas/record.ts';
import { EvidenceQuery, RunParams } from '../schemas/requests.ts';

const tags = ['evidence'];

/** The chain of what a run has done. */
export const EVIDENCE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/runs/:runId/evidence',
    operation: { id: 'listEvidence', summary: 'The evidence of a run, row by row', tags },
    params: RunParams,
    query: EvidenceQuery,
    answers: { 200: json(EvidencePage, 'Rows; the next page begins behind the last `seq`.') },
    errors: ['RUN_NOT_FOUND', 'STORE_UNREACHABLE'],
    handle: async ({ params, query }, { context, caller }) => ({
      items: await context.gateway.evidence(params.runId, query, await caller()),
    }),
  }),
  route({
    method: 'GET',
    path: '/runs/:runId/evidence/verify',
    operation: { id: 'verifyEvidence', summary: 'Whether the evidence of a run holds', tags },
    params: RunParams,
    answers: { 200: json(ChainReport, 'What the whole chain came to.') },
    errors: ['RUN_NOT_FOUND', 'STORE_UNREACHABLE'],
    handle: async ({ params }, { context, caller }) =>
      context.gateway.verify(params.runId, await caller()),
  }),
];
