#!/usr/bin/env node
// `npx tapline`: the command line is the package tapline-cli. This one stays without dependencies,
// so it starts the other where both are installed, and in an empty folder has npx fetch it.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const PROGRAM = 'tapline-cli/bin/tapline.js';

/** Beside this package only: a program of whatever folder one stands in is not run. */
function find() {
  // Some package managers link packages together; then the file's own place knows no neighbors.
  for (const from of [import.meta.url, process.argv[1]]) {
    try {
      return createRequire(from).resolve(PROGRAM);
    } catch {}
  }
  return null;
}

/** Run by npx, from where it keeps what it has fetched: npm fetches the command of this version. @returns its exit code */
function fetchAndRun() {
  const { version } = createRequire(import.meta.url)('../package.json');
  const asked = ['exec', '--yes', `--package=tapline-cli@${version}`, '--', 'tapline'];
  // npx tells where its npm is; its own file is npx-cli.js.
  const npm = process.env.npm_execpath?.replace(/npx-cli\.js$/, 'npm-cli.js');
  const program = npm === undefined ? ['npm'] : [process.execPath, npm];
  const [file, ...args] = [...program, ...asked, ...process.argv.slice(2)];
  // On Windows `npm` is a script, which only a shell starts.
  const shell = npm === undefined && process.platform === 'win32';
  return spawnSync(file, args, { stdio: 'inherit', shell }).status;
}

const program = find();
if (program !== null) {
  await import(pathToFileURL(program).href);
} else if (import.meta.url.includes('/_npx/')) {
  process.exitCode = fetchAndRun() ?? 2;
} else {
  const { TAPLINE_BASE_URL: address = '' } = process.env;
  const at = URL.canParse(address) ? new URL(address).origin : 'https://<your network>';
  process.stderr.write(
    `The command is the package tapline-cli: npm i ${at}/packages/tapline-cli.tgz\n`,
  );
  process.exitCode = 2;
}
