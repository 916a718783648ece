export { a2a } from './a2a.ts';
export type { A2aOptions } from './options.ts';
