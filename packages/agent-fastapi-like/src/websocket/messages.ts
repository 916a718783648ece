import type { JsonSchemaLike } from '@hexagent/agent-core';

/** The schemas of the messages of a socket, by the name under which the document of the API has them. */
export const SOCKET_MESSAGES: Readonly<Record<string, JsonSchemaLike>> = {};
