import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A folder inside the workspace that neither the agent nor Git looks at. */
export function storeIn(workspace: string): string {
  const folder = join(workspace, '.hexagent');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '.gitignore'), '*\n');
  return pathToFileURL(join(folder, 'code-assistant.db')).href;
}
