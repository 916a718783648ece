export { httpHost } from './http-host.ts';
export { HttpServer } from './http-server.ts';
export type { Authenticate, HostLimits, HttpHostOptions, LogLevel } from './options.ts';
