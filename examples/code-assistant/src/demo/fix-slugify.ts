import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core';
import type { Answered, Turn } from './transcript.ts';

/** What the scripted model says next, and which tools it calls. */
export type Reply = {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: JsonObject }[];
};

const BROKEN = '    .toLowerCase()\n';
const MENDED = "    .normalize('NFKD')\n    .replace(/\\p{M}+/gu, '')\n    .toLowerCase()\n";

/** Plays an engineer who repairs `slugify`: search, read, propose, check. Each step uses what the one before found. */
export function fixSlugify({ asked, answered }: Turn): Reply {
  const last = answered.at(-1);
  if (last === undefined) return asked.includes('slugify') ? lookForIt() : onlyThisTask();
  if (last.outcome === 'denied') {
    return say(
      'You declined that, so the file stays as it is. I would have split accents from their letters before everything but a to z is replaced.',
    );
  }
  if (last.outcome !== 'ok') return say(`I stop here, since ${last.toolName} failed: ${last.text}`);
  switch (last.toolName) {
    case 'workspace.search':
      return readIt(last);
    case 'workspace.read':
      return proposeIt(last);
    case 'workspace.write':
      return checkIt(last);
    default:
      return say(
        'Done. `slugify` replaced everything but a to z, so "è" became a dash. It now splits accents from their letters first and drops only the accents: "Crème brûlée" gives "creme-brulee". The diff above is the whole change; your tests tell whether an address was built on the old result.',
      );
  }
}

function lookForIt(): Reply {
  return {
    text: 'I look for the place that defines `slugify`.',
    calls: [
      {
        name: 'workspace.search',
        input: { pattern: 'export function slugify', syntax: 'literal' },
      },
    ],
  };
}

function onlyThisTask(): Reply {
  return say(
    'I am the scripted model of the demo and know one task: repairing `slugify` in the sample workspace. Set HEXAGENT_MODEL_URL to an OpenAI-compatible server to ask anything.',
  );
}

function readIt({ data }: Answered): Reply {
  const [match] = field(data, 'matches', Array.isArray) ?? [];
  const path = field(match, 'path', isText);
  if (path === undefined) return say('There is no `slugify` in this workspace.');
  return {
    text: `It is in ${path}. I read the file.`,
    calls: [{ name: 'workspace.read', input: { path } }],
  };
}

function proposeIt({ data }: Answered): Reply {
  const [path, before, replaces] = ['path', 'text', 'revision'].map((name) =>
    field(data, name, isText),
  );
  if (path === undefined || before === undefined || replaces === undefined) {
    return say('I could not read the file.');
  }
  if (before.includes('\\p{M}')) return say('`slugify` handles accents already; nothing to do.');
  return {
    text: 'Found it: everything but a to z becomes a dash, and "è" is not in a to z. Splitting accents from their letters first (Unicode form NFKD) keeps the letters. I propose this change:',
    calls: [
      {
        name: 'workspace.write',
        input: { path, content: before.replace(BROKEN, MENDED), replaces },
      },
    ],
  };
}

function checkIt({ data }: Answered): Reply {
  const path = field(data, 'path', isText) ?? '.';
  return {
    text: 'It is written. I look at the difference once more.',
    calls: [{ name: 'git.diff', input: { path } }],
  };
}

function say(text: string): Reply {
  return { text, calls: [] };
}

function field<T>(
  value: JsonValue | undefined,
  name: string,
  is: (member: unknown) => member is T,
): T | undefined {
  const member = isJsonObject(value) ? value[name] : undefined;
  return is(member) ? member : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
