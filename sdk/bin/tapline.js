#!/usr/bin/env node
// `npx tapline` runs the command line, which is the package tapline-cli. To have no dependencies,
// this package runs tapline-cli if it is installed beside it, and otherwise fetches it with npx.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const PROGRAM = 'tapline-cli/bin/tapline.js';

/** Looks beside this package only, so that no program from the current folder is run. */
function find() {
  // Some package managers install packages through links, so that the file's real path has no
  // neighbors.
  for (const from of [import.meta.url, process.argv[1]]) {
    try {
      return createRequire(from).resolve(PROGRAM);
    } catch {}
  }
  return null;
}

/** Runs the command through npx, which fetches the matching version. @returns its exit code */
function fetchAndRun() {
  const { version } = createRequire(import.meta.url)('../package.json');
  const asked = ['exec', '--yes', `--package=tapline-cli@${version}`, '--', 'tapline'];
  // npx passes the path of its own npx-cli.js; npm-cli.js is beside it.
  const npm = process.env.npm_execpath?.replace(/npx-cli\.js$/, 'npm-cli.js');
  const program = npm === undefined ? ['npm'] : [process.execPath, npm];
  const [file, ...args] = [...program, ...asked, ...process.argv.slice(2)];
  // On Windows `npm` is a script, which needs a shell.
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
    `The command is the package tapline-cli: curl -O ${at}/packages/tapline-cli.tgz && ` +
      'npm i ./tapline-cli.tgz\n',
  );
  process.exitCode = 2;
}
