import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';

export type ConfinedPath = {
  /** Relative to the root, with `/`, links resolved. */
  readonly path: string;
  /** The real place on the disk. */
  readonly absolute: string;
  readonly exists: boolean;
};

const MAX_LENGTH = 4096;

/** Writing here would run code or forge history; reading could show credentials. */
const PROTECTED: readonly string[] = ['.git', 'git~1', '.hexagent'];

/**
 * Resolves a path that a model has written, one component at a time.
 *
 * Refused: absolute paths, `..`, NUL, links that lead out of the root or nowhere, and what belongs to
 * Git or to Hexagent. Links that stay inside are followed. The root must be a real path.
 */
export async function confinedPath(root: string, path: string): Promise<ConfinedPath> {
  const names = namesIn(path);
  let absolute = root;
  for (const [index, name] of names.entries()) {
    const next = join(absolute, name);
    const entry = await lstat(next).catch(absent);
    if (entry === undefined) {
      return inside({ root, asked: path, exists: false }, join(next, ...names.slice(index + 1)));
    }
    const place = entry.isSymbolicLink() ? await realpath(next).catch(() => undefined) : next;
    if (place === undefined)
      throw refused(path, 'is, or passes through, a link that leads nowhere');
    inside({ root, asked: path, exists: true }, place);
    const isLast = index === names.length - 1;
    if (!isLast && !(await lstat(place)).isDirectory()) {
      throw refused(
        path,
        `passes through "${names.slice(0, index + 1).join('/')}", which is a file`,
      );
    }
    absolute = place;
  }
  return inside({ root, asked: path, exists: true }, absolute);
}

function namesIn(path: string): readonly string[] {
  if (path.includes('\0')) throw refused(path, 'contains a NUL character');
  if (path.length > MAX_LENGTH)
    throw refused(`${path.slice(0, 40)}…`, `is longer than ${MAX_LENGTH}`);
  if (path.includes('\\')) throw refused(path, 'contains a backslash: write / between folders');
  if (isAbsolute(path) || /^[a-z]:/i.test(path)) throw refused(path, 'is absolute');
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) throw refused(path, 'contains ".."');
  if (names.some(isProtected)) throw refused(path, 'belongs to Git or to Hexagent');
  return names;
}

function inside(
  {
    root,
    asked,
    exists,
  }: { readonly root: string; readonly asked: string; readonly exists: boolean },
  absolute: string,
): ConfinedPath {
  const names = relative(root, absolute).split(sep);
  if (names[0] === '..' || isAbsolute(relative(root, absolute))) {
    throw refused(asked, 'leads out of the workspace through a link');
  }
  if (names.some(isProtected)) throw refused(asked, 'leads to what belongs to Git or to Hexagent');
  return { path: names.join('/') || '.', absolute, exists };
}

/** File systems that ignore case, trailing dots or trailing blanks would open the same folder. */
function isProtected(name: string): boolean {
  return PROTECTED.includes(name.toLowerCase().replace(/[. ]+$/, ''));
}

function absent(reason: NodeJS.ErrnoException): undefined {
  if (reason.code === 'ENOENT') return undefined;
  throw reason;
}

function refused(path: string, why: string): Error {
  return new Error(
    `The path ${JSON.stringify(path)} ${why}. Give a path inside the workspace, relative to its root, like "src/index.ts".`,
  );
}
