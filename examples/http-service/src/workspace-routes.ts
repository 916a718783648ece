import { HttpProblem, type Routes } from '@hexagent/agent-fastapi-like';
import { Workspace } from '@hexagent/example-code-assistant';
import { Type } from 'typebox';

const line = Type.Optional(Type.Integer({ minimum: 1 }));

const FileText = Type.Object(
  {
    path: Type.String(),
    revision: Type.String({ description: 'Names exactly this content.' }),
    text: Type.String(),
    fromLine: Type.Integer(),
    toLine: Type.Integer(),
    totalLines: Type.Integer(),
    complete: Type.Boolean({ description: 'False: the file is longer than one answer.' }),
  },
  { title: 'FileText' },
);

// #region route
/** Beside the agents: what is in the files that they work on. */
export const workspaceRoutes: Routes = (api) => {
  api.get(
    '/workspace/files/:path',
    {
      summary: 'A text file of the workspace, or some of its lines',
      description: 'A "/" inside the path is written as %2F.',
      tags: ['workspace'],
      params: Type.Object({ path: Type.String() }),
      query: Type.Object({ fromLine: line, toLine: line }, { additionalProperties: false }),
      response: FileText,
      needs: { workspace: Workspace },
    },
    async ({ params: { path }, query, deps, signal }) => {
      try {
        return await deps.workspace.read(path, { ...query, signal });
      } catch {
        signal.throwIfAborted();
        throw new HttpProblem(404, {
          code: 'FILE_NOT_FOUND',
          detail: `The workspace has no text file "${path}" that can be read.`,
          mend: 'Give a path inside the workspace, like src%2Findex.ts.',
        });
      }
    },
  );
};
// #endregion route
