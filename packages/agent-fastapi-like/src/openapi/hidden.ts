import type { FastifySchema } from 'fastify';

/** Left out of a document that the application makes of its own routes. */
export const HIDDEN: FastifySchema & { readonly hide: true } = { hide: true };
