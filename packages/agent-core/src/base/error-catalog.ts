/** One small factory a code; each file of `errors/` is one theme of `ERROR_CODES`. */
export * from './errors/composition.ts';
export * from './errors/host.ts';
export * from './errors/model.ts';
export type { Problem } from './errors/problem.ts';
export * from './errors/request.ts';
export * from './errors/run.ts';
export * from './errors/store.ts';
export * from './errors/tool.ts';
