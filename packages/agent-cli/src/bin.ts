#!/usr/bin/env node
import { main } from './main.ts';

/** Something that a plugin left open must not keep a finished command alive. */
const LINGER_MS = 1_000;

process.exitCode = await main(process.argv.slice(2));
setTimeout(() => process.exit(), LINGER_MS).unref();
