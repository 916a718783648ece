/** Two users of one tenant, by the tokens of a service with `tokens`. */
export const ALICE = 'acme.alice';
export const BOB = 'acme.bob';
