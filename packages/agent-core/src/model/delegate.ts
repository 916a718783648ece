import type { AgentModel } from './agent-model.ts';

/** The members of `changes` in place of those of a model: what a wrapper of one model begins with. Members that the model does not have stay away. */
export function delegate(model: AgentModel, changes: Pick<AgentModel, 'stream'>): AgentModel {
  const { address, countTokens, selectionProblem, load } = model;
  return {
    id: model.id,
    ...(address === undefined ? {} : { address }),
    capabilities: (selection) => model.capabilities(selection),
    ...(countTokens === undefined
      ? {}
      : { countTokens: (request, stop) => countTokens.call(model, request, stop) }),
    ...(selectionProblem === undefined
      ? {}
      : { selectionProblem: (selection) => selectionProblem.call(model, selection) }),
    ...(load === undefined ? {} : { load: (stop) => load.call(model, stop) }),
    ...changes,
  };
}
