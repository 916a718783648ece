import { createJiti } from 'jiti';

/**
 * Imports a TypeScript file on a Node that cannot. What it imports from packages is loaded by Node itself,
 * so a configuration and this command share one copy of agent-core.
 */
export function importTypeScript(path: string): Promise<Readonly<Record<string, unknown>>> {
  return createJiti(path, { interopDefault: false }).import(path);
}
