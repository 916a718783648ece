export type { Authenticate } from './access/authenticate.ts';
export { httpHost } from './http-host.ts';
export { HttpServer } from './http-server.ts';
export type { HostLimits, HttpHostOptions, LogLevel } from './options.ts';
