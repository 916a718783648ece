export {
  type Reply,
  type Served,
  type ServedModel,
  serveModel,
  type WireMessage,
} from './serve-model.ts';
