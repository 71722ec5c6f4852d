#!/usr/bin/env node
// `npx tapline`: the command line is the package tapline-cli. This one stays without dependencies,
// so it only starts the other where both are installed.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const PROGRAM = 'tapline-cli/bin/tapline.js';

/** Beside this package only: a program of whatever folder one stands in is not run. */
function find() {
  // Some package managers link packages together; then the file's own place knows no neighbours.
  for (const from of [import.meta.url, process.argv[1]]) {
    try {
      return createRequire(from).resolve(PROGRAM);
    } catch {}
  }
  return null;
}

const { TAPLINE_BASE_URL: address = '' } = process.env;
const program = find();
if (program === null) {
  const at = URL.canParse(address) ? new URL(address).origin : 'https://<your network>';
  process.stderr.write(
    `The command is the package tapline-cli: npm i ${at}/packages/tapline-cli.tgz\n`,
  );
  process.exitCode = 2;
} else {
  await import(pathToFileURL(program).href);
}
