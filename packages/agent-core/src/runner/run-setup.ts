import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { AnyPort } from '../base/port.ts';
import type { BlobStore } from '../durable/blob-store.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import type { Sealer } from '../durable/sealer.ts';
import type { Observer } from '../events/observer.ts';
import type { AgentModel } from '../model/agent-model.ts';
import type { ModelCatalogue } from '../model/catalogue.ts';
import type { ToolSource } from '../sources/tool-source.ts';

/** What the application has composed, as the runner needs it. One for all runs. */
export type RunSetup = {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly model: AgentModel | undefined;
  readonly store: DurableStore | undefined;
  readonly observer: Observer | undefined;
  readonly sealer: Sealer | undefined;
  readonly blobs: BlobStore | undefined;
  /** Windows and prices of models, where the application has them. */
  readonly catalogue: ModelCatalogue | undefined;
  readonly sources: ReadonlyMap<string, ToolSource>;
  /** What is bound to a port: a value, or a list for a port of arity `many`. */
  readonly resolve: (port: AnyPort) => unknown;
};
