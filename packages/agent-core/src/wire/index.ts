export { AgentError } from '../base/error.ts';
