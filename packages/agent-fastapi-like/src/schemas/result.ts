import { Type } from 'typebox';
import { AnyValue, RunName } from './common.ts';
import { RunError, SUMMARY, Usage } from './run.ts';

const COMMON = { ...SUMMARY, runId: RunName, usage: Usage };

/** What a run came to. */
export const RunResult = Type.Union(
  [
    Type.Object({ ...COMMON, kind: Type.Literal('completed'), output: AnyValue }),
    Type.Object({ ...COMMON, kind: Type.Literal('failed'), error: RunError }),
    Type.Object({
      ...COMMON,
      kind: Type.Literal('cancelled'),
      reason: Type.Optional(Type.String()),
      requestedBy: Type.Optional(Type.String()),
    }),
  ],
  { title: 'RunResult' },
);
