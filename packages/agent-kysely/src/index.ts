export { kyselyStore } from './kysely-store.ts';
export { openKyselyStore } from './open-store.ts';
export type { OpenedStore } from './opened-store.ts';
export type { KyselyOptions } from './options.ts';
