import {
  type App,
  type Caller,
  rootOf,
  type Wait,
  waitIdOf,
  waitNotFound,
} from '@hexagent/agent-core';

/** One wait by its id. Waits of child runs are found by looking through all. */
export async function findWait(
  { app, caller }: { readonly app: App; readonly caller: Caller },
  id: string,
): Promise<Wait> {
  const ofRoot = await lookFor({ app, caller }, { id, runId: rootOf(id) });
  const found = ofRoot ?? (await lookFor({ app, caller }, { id }));
  if (found === undefined) throw waitNotFound(waitIdOf(id));
  return found;
}

async function lookFor(
  { app, caller }: { readonly app: App; readonly caller: Caller },
  { id, ...query }: { readonly id: string; readonly runId?: Wait['runId'] },
): Promise<Wait | undefined> {
  let after: string | undefined;
  do {
    const page = await app.runs.waits(
      { ...query, ...(after === undefined ? {} : { after }) },
      caller,
    );
    const found = page.items.find((wait) => wait.id === id);
    if (found !== undefined) return found;
    after = page.next;
  } while (after !== undefined);
  return undefined;
}
