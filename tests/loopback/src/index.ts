export {
  beginStream,
  type LoopbackServer,
  loopbackServer,
  type Received,
  type Reply,
  reset,
  stalled,
  status,
  streamed,
  write,
} from './loopback-server.ts';
