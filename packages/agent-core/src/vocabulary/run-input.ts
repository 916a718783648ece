import type { RunId } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';
import type { Message, Part } from './message.ts';
import type { ModelSelection, ModelTool } from './model-selection.ts';

/** What happens to a run that is started while another one of its conversation is open. */
export const ADMISSIONS = ['reject', 'queue', 'interrupt'] as const;
export type Admission = (typeof ADMISSIONS)[number];

/** What starts a run. `dependencies` of a request are JSON, since another process may resume the run; those of an agent may be anything. */
export type RunInput = {
  readonly message: string | readonly Part[];
  readonly conversationId?: string;
  /**
   * While another run of the conversation is open: `reject` refuses this one, `queue` starts it when those before it have
   * ended, `interrupt` cancels the open run and queues. Default: what the agent says.
   */
  readonly admission?: Admission;
  readonly parentRunId?: RunId;
  /** The client's own history: used as it is, and then nothing is read from or written to the conversation. */
  readonly history?: readonly Message[];
  /** Tools that the client runs: a call of one pauses the run until the client sends its result. */
  readonly clientTools?: readonly ModelTool[];
  readonly selection?: ModelSelection;
  /** The shared state that the run starts with. */
  readonly state?: JsonObject;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly dependencies?: JsonObject;
};
