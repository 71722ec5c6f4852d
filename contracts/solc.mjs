#!/usr/bin/env node
// Lets forge use the solc that npm installed, as if it were the native compiler: foundry.toml names
// this file. Plain JavaScript without types, because forge starts it with whatever node it finds.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const solc = createRequire(import.meta.url)('solc');

if (process.argv.includes('--version')) {
  console.log(`solc, the solidity compiler commandline interface\nVersion: ${solc.version()}`);
} else {
  // forge hands in the content of every source, so there is nothing to import.
  const missing = (path) => ({ error: `not among the sources: ${path}` });
  process.stdout.write(solc.compile(readFileSync(0, 'utf8'), { import: missing }));
}
