#!/usr/bin/env node
import { existsSync } from 'node:fs';

// Published packages contain dist/. The repository builds it from src/.
const dist = existsSync(new URL('../src', import.meta.url))
  ? await (await import('../../src/packages/own-dist.mjs')).ownDist('reader')
  : new URL('../dist/', import.meta.url);
const { main } = await import(new URL('command.js', dist));

process.exitCode = await main(process.argv.slice(2), process.env);
