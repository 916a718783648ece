import { pathToFileURL } from 'node:url';
import { AgentError, type AppConfig, configInvalid } from '@hexagent/agent-core';
import { importTypeScript } from './import-typescript.ts';

const TYPESCRIPT = /\.[mc]?ts$/;

/** Runs a configuration file and answers its default export. Whatever is wrong with it names the file. */
export async function loadConfig(path: string): Promise<AppConfig> {
  const module = await importConfig(path);
  const problem = problemOf(module);
  if (problem === undefined) return module['default'] as AppConfig;
  throw configInvalid(path, {
    seen: problem,
    mend: 'Write `export default { plugins: […], agents: […] } satisfies AppConfig`: the argument of bootstrap.',
  });
}

async function importConfig(path: string): Promise<Readonly<Record<string, unknown>>> {
  const url = pathToFileURL(path).href;
  try {
    return TYPESCRIPT.test(path) && !runsTypeScript()
      ? await importTypeScript(path)
      : await import(url);
  } catch (error) {
    if (AgentError.is(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw configInvalid(path, {
      seen: `it cannot be loaded: ${reason}`,
      mend: mendOf(error),
      cause: error,
    });
  }
}

/**
 * True when this file is itself TypeScript: then the platform loads it, and the configuration with it,
 * and both get the same modules.
 */
function runsTypeScript(): boolean {
  return TYPESCRIPT.test(import.meta.url);
}

function mendOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') {
    return 'Install what it imports, or correct the path of the import.';
  }
  return 'Correct the file. --debug shows where in it the error is.';
}

function problemOf(module: Readonly<Record<string, unknown>>): string | undefined {
  const found = module['default'];
  if (found === undefined) return 'it has no default export.';
  if (typeof found !== 'object' || found === null) {
    return `its default export is ${found === null ? 'null' : `a ${typeof found}`}, not an object.`;
  }
  const missing = (['plugins', 'agents'] as const).filter(
    (name) => !Array.isArray((found as Readonly<Record<string, unknown>>)[name]),
  );
  if (missing.length === 0) return undefined;
  return `its default export has no list \`${missing.join('` and no list `')}\`.`;
}
