import { inputInvalid, type Problem } from '@hexagent/agent-core';

/**
 * Refuses texts that a database cannot keep as a key: PostgreSQL takes no U+0000, SQLite's driver cuts
 * there, and half a surrogate pair would come back as another character.
 */
export function checkKeys(keys: Readonly<Record<string, string | null | undefined>>): void {
  const problems: Problem[] = [];
  for (const [at, text] of Object.entries(keys)) {
    if (text === null || text === undefined || !UNSTORABLE.test(text)) continue;
    problems.push({
      at,
      seen: `${JSON.stringify(text)} holds a character that no database can keep.`,
      mend: 'Leave U+0000 and unpaired surrogates out.',
    });
  }
  if (problems.length > 0) throw inputInvalid('A key', problems);
}

const UNSTORABLE = /\p{Surrogate}|\0/u;
