import type { HttpMount, Problem } from '@hexagent/agent-core';
import type { Route } from '../api/route.ts';

/** Somebody's claim of addresses: one path, or everything below it. */
type Claim = {
  readonly by: string;
  readonly at: string;
  readonly segments: readonly string[];
  readonly isTree: boolean;
  /** Absent: every method. */
  readonly method?: string;
};

export type Claimants = {
  /** Routes of the host. */
  readonly own: readonly Route[];
  /** Paths of the host that are no routes, with everything below them. */
  readonly reserved: readonly string[];
  readonly mounts: readonly HttpMount[];
  /** Routes of the application. */
  readonly routes: readonly Route[];
};

/** Every address that two want: two mounts, two routes, or one of them and the host; and every path that is none. */
export function claimProblems({ own, reserved, mounts, routes }: Claimants): readonly Problem[] {
  const problems: Problem[] = [];
  const taken: Claim[] = [
    ...own.map((route) => claimOf(route, { by: 'the host', at: '' })),
    ...reserved.map((path) => treeOf(path, { by: 'the host', at: '' })),
  ];
  const claim = (given: Claim, path: string, isPath: boolean): void => {
    const holder = taken.find((one) => overlap(one, given));
    if (!isPath)
      problems.push({
        at: given.at,
        seen: 'is not a path.',
        mend: 'Begin it with "/", end it without one, and use no wildcards.',
      });
    else if (holder !== undefined)
      problems.push({
        at: given.at,
        seen: `is taken by ${holder.by}.`,
        mend: 'Choose another path.',
      });
    if (isPath && path !== '') taken.push(given);
  };
  mounts.forEach((mount, index) => {
    const base = `mounts[${index}] "${mount.basePath}"`;
    claim(treeOf(mount.basePath, { by: base, at: base }), mount.basePath, isPlain(mount.basePath));
    for (const path of mount.paths ?? []) {
      const at = `mounts[${index}] "${path}"`;
      const { isTree: _tree, ...exact } = treeOf(path, { by: at, at });
      claim({ ...exact, isTree: false }, path, isPlain(path));
    }
  });
  for (const route of routes) {
    const at = `routes ${route.method} "${route.path}"`;
    claim(claimOf(route, { by: at, at }), route.path, isPattern(route.path));
  }
  return problems;
}

const isPlain = (path: string): boolean => /^\/[^:*?#\s]*[^/:*?#\s]$/.test(path);
const isPattern = (path: string): boolean => /^(\/(:[A-Za-z_]\w*|[^/:*?#\s]+))+$/.test(path);

function claimOf(route: Route, { by, at }: Pick<Claim, 'by' | 'at'>): Claim {
  const { method, path } = route;
  return { by, at, segments: segmentsOf(path), isTree: false, method };
}

function treeOf(path: string, { by, at }: Pick<Claim, 'by' | 'at'>): Claim {
  return { by, at, segments: segmentsOf(path), isTree: true };
}

function segmentsOf(path: string): readonly string[] {
  return path
    .split('/')
    .slice(1)
    .map((segment) => (segment.startsWith(':') ? ':' : segment));
}

/** Two routes share an address when they are the same pattern; a mount shares it with whatever could be asked for below it. */
function overlap(left: Claim, right: Claim): boolean {
  if (left.method !== undefined && right.method !== undefined)
    return left.method === right.method && left.segments.join('/') === right.segments.join('/');
  const [shorter, longer] =
    left.segments.length <= right.segments.length ? [left, right] : [right, left];
  if (shorter.segments.length < longer.segments.length && !shorter.isTree) return false;
  return shorter.segments.every((segment, index) => {
    const other = longer.segments[index];
    return segment === other || segment === ':' || other === ':';
  });
}
