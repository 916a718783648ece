import { serveChat } from './chat-server.ts';
import { loadTinyModel } from './tiny-model.ts';

// main [PORT]: serves the tiny model until it is interrupted.
const loaded = await loadTinyModel();
if (loaded.model === undefined) {
  console.error(`The model cannot run here: ${loaded.why}.`);
  process.exit(1);
}
const server = await serveChat(loaded.model, { port: Number(process.argv[2] ?? 0) });
console.log(`HEXAGENT_MODEL_URL=${server.url}`);
