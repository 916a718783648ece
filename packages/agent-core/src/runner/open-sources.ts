import { AgentError } from '../base/error.ts';
import { toolNameCollision, toolSourceFailed } from '../base/error-catalog.ts';
import type { OpenedTools, ToolSource } from '../sources/tool-source.ts';
import { toolCatalogue } from '../tools/catalogue.ts';
import type { Tool } from '../tools/tool.ts';
import type { ActiveRun } from './active-run.ts';

/**
 * Opens the tool sources that the agent names and merges their tools into the run's catalogue; two tools
 * of one name are an error that names both sources. Answers what closes them, on every exit.
 */
export async function openSources(run: ActiveRun): Promise<() => Promise<void>> {
  const { toolSources } = run.facts.definition;
  const opened: OpenedTools[] = [];
  const close = async (): Promise<void> => {
    for (const source of opened.splice(0).reverse()) await source.close().catch(() => undefined);
  };
  try {
    const tools: Tool[] = [...run.catalogue.tools];
    for (const id of toolSources) {
      // An agent that names a source which is not bound does not come through bootstrap.
      const source = run.setup.sources.get(id) as ToolSource;
      const got = await source.open(run.context, { signal: run.signal }).catch((error: unknown) => {
        throw AgentError.is(error) ? error : toolSourceFailed(id, error);
      });
      opened.push(got);
      tools.push(...got.tools);
      if (got.instructions !== undefined)
        run.sourceInstructions = [...run.sourceInstructions, got.instructions];
    }
    const merged = toolCatalogue(tools, `run of "${run.facts.definition.name}"`);
    if (!merged.ok) throw toolNameCollision(merged.problems);
    run.catalogue = merged.catalogue;
    return close;
  } catch (error) {
    await close();
    throw error;
  }
}
