import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that is gone when the test is. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'hexagent-kysely-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
