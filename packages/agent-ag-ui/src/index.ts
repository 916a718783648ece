export { agUi } from './ag-ui.ts';
export { agUiMount } from './ag-ui-mount.ts';
export type { Forwarded } from './input/run-input.ts';
export type { AgUiOptions } from './options.ts';
export type { ThreadView } from './threads/thread-view.ts';
