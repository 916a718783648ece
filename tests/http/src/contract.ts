/** What the service and the tests know of each other. */
export const ALICE = 'alice-0123456789abcdef';
export const BOB = 'bob-0123456789abcdef';
/** How long a request may take to arrive, in milliseconds. */
export const REQUEST_MS = 1_000;
