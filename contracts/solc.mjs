#!/usr/bin/env node
// Lets forge use the solc from npm as if it were the native compiler; foundry.toml names this file.
// Plain JavaScript, because forge may start it with an older Node that cannot run TypeScript.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const solc = createRequire(import.meta.url)('solc');

if (process.argv.includes('--version')) {
  console.log(`solc, the solidity compiler commandline interface\nVersion: ${solc.version()}`);
} else {
  // forge passes the content of every source, so nothing needs to be imported.
  const missing = (path) => ({ error: `not among the sources: ${path}` });
  process.stdout.write(solc.compile(readFileSync(0, 'utf8'), { import: missing }));
}
