import type { JsonObject } from '../base/json.ts';

/** A caller's choice among what the model adapter offers; the agent itself owns no model name. */
export type ModelSelection = {
  readonly provider?: string;
  readonly model?: string;
  readonly profile?: string;
};

/** A tool as a model sees it. */
export type ModelTool = {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
};
