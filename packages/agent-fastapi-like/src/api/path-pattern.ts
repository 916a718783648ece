/** What the path of a route matches: one segment for each parameter. */
export function pathPattern(path: string): RegExp {
  const source = path
    .split('/')
    .map((segment) =>
      segment.startsWith(':') ? '[^/]+' : segment.replaceAll(/[.+()[\]{}^$|]/g, '\\$&'),
    )
    .join('/');
  return new RegExp(`^${source}$`);
}
