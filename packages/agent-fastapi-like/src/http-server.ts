import { definePort, type Port } from '@hexagent/agent-core';

/** The HTTP host of an application, for whoever must name its address. */
export interface HttpServer {
  /** `http://127.0.0.1:8000`, while it listens; undefined before and after. */
  readonly url: string | undefined;
}

export const HttpServer: Port<HttpServer> = definePort<HttpServer>('http-server');
