/** Turns a title into the last part of an address: "Hello, World!" gives "hello-world". */
export function slugify(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
