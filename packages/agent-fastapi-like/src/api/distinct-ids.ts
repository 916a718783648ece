import type { Route } from './route.ts';

/** No two operations of a document have one name: of those that would, the later ones get a number. */
export function withDistinctIds(routes: readonly Route[]): readonly Route[] {
  const taken = new Set<string>();
  return routes.map((route) => {
    const { operation } = route;
    let { id } = operation;
    for (let count = 2; taken.has(id); count += 1) id = `${operation.id}${count}`;
    taken.add(id);
    return { ...route, operation: { ...operation, id } };
  });
}
