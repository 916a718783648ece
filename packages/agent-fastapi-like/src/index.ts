export type { ProblemBody } from '@hexagent/agent-core';
export type { Authenticate } from './access/authenticate.ts';
export { type BearerOptions, bearer } from './access/bearer.ts';
export { JWT_ALGORITHMS, type JwtAlgorithm, type JwtOptions, jwt } from './access/jwt.ts';
export { type AgentMountsOptions, agentMounts } from './agent-mounts.ts';
export { type AgentRoutesOptions, agentRoutes } from './agent-routes.ts';
export type { Access } from './api/route.ts';
export type {
  AddRoute,
  Described,
  RouteAnswer,
  RouteApi,
  RouteOptions,
  RouteRequest,
  Routes,
} from './api/user-routes.ts';
export { httpHost } from './http-host.ts';
export { HttpServer } from './http-server.ts';
export type { HttpHostOptions, ScopeOptions } from './options.ts';
export { HttpProblem, type HttpProblemWords } from './problems/http-problem.ts';
export type {
  CorsOptions,
  DocsOptions,
  HostLimits,
  LogLevel,
  MetricsAccess,
  SocketOptions,
  TrustProxy,
} from './settings.ts';
export type { OnDisconnect } from './streams/on-disconnect.ts';
