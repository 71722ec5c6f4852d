#!/usr/bin/env node
import { existsSync } from 'node:fs';

// The published package contains dist/; in the repository, it is built from src/.
const dist = existsSync(new URL('../src', import.meta.url))
  ? await (await import('../../src/packages/own-dist.mjs')).ownDist('cli')
  : new URL('../dist/', import.meta.url);
const { main } = await import(new URL('main.js', dist));

process.exitCode = await main(process.argv);
