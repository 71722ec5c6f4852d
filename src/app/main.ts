import { renderUnicodeCompact } from 'uqr';
import { type Running, start } from '#app/start.ts';
import { StartError } from '#core/start-error.ts';
import { describeError, type Log, stderrLog } from '#observability/log.ts';
import { RELEASE } from '#observability/release-version.ts';
import type { LanServer } from '#sandbox/lan-server.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { readConfig } from '#settings/config.ts';
import { secretValues } from '#settings/secret-settings.ts';
import { knownHoles } from '../../cli/src/node-holes.ts';

/** Time limit of a stop after DRAIN_SECONDS: behavior.md 20.7 allows 10 s. */
const STOP_MS = 9_500;

const HELP = `npm start: runs Tapline.

Without settings it is a sandbox: database, two chains, API, workers and web apps, all on this
machine. Its data is in the folder .tapline.

  npm start -- --lan            phones on the same network can open the apps, over https
  npm start -- --roles api      runs only this part; also worker, registrar, watch, or api,worker
  PORT=4300 npm start           listens on another port
  TAPLINE_DATA_DIR=… npm start  keeps the sandbox's data in another folder

For production, see docs/deploy.md; all settings are in docs/settings.md.
`;

/** Replaces the IP address by a host name, because browsers allow no passkeys at an IP address. */
function withPasskeys({ web_url: url }: SandboxFile): string {
  return url.replace('//127.0.0.1', '//localhost');
}

function screen(sandbox: SandboxFile, dataDir: string): string {
  const local = withPasskeys(sandbox);
  return `
  Tapline is running.

  Front page      ${local}

  Two browser windows, and no code:
  Terminal        ${local}/terminal#key=${sandbox.test.device_key}
  Wallet          ${local}/wallet

  API             ${local}/api/v1        reference: ${local}/docs
  Test key        ${sandbox.test.secret_key}
  Test terminal   ${sandbox.test.terminal}
  Dashboard       ${local}/dashboard
                  ${sandbox.dashboard.email} / ${sandbox.dashboard.password}
  Everything else ${dataDir}/sandbox.json

  Ctrl+C stops it. The next start has all of its data.
`;
}

/**
 * Returns the text about phones on the same network. Without https, their browsers allow no camera,
 * NFC or WebCrypto.
 */
function lanScreen({ url, fingerprint }: LanServer, deviceKey: string): string {
  return `
  On phones in the same network:

  Wallet          ${url}/wallet
  Terminal        ${url}/terminal#key=${deviceKey}

${renderUnicodeCompact(`${url}/wallet`, { border: 2 }).replace(/^/gm, '  ')}

  The phone's browser will warn: the certificate was made at this start and is self-signed.
  Choose "Advanced" and go on. Its SHA-256 fingerprint begins with ${fingerprint.slice(0, 23)}.
  Passkeys, and installing the apps, need a certificate that the phone trusts.
`;
}

interface End {
  readonly code: number;
  readonly reason: string;
}

interface StopSignal {
  readonly end: Promise<End>;
  /**
   * Aborts at the second signal, because an operator who sends another one does not want to wait.
   */
  readonly hurry: AbortSignal;
}

/**
 * Handles signals from the first moment, so that a process that is stopped during its start also
 * exits cleanly, with code 0.
 */
function askedToStop(): StopSignal {
  const hurry = new AbortController();
  const end = new Promise<End>((resolve) => {
    let signals = 0;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (++signals > 1) hurry.abort();
        resolve({ code: 0, reason: signal });
      });
    }
  });
  return { end, hurry: hurry.signal };
}

/** Exits at the time limit, even if work remains. */
function endInTime({ code }: End, drainSeconds: number): void {
  setTimeout(() => process.exit(code), drainSeconds * 1000 + STOP_MS);
}

async function stopAtTheEnd(started: Started, stop: StopSignal, log: Log): Promise<never> {
  const { running, drainSeconds } = started;
  const lost = running.lost.then((reason): End => ({ code: 1, reason }));
  const end = await Promise.race([stop.end, lost]);
  if (end.code === 0) log.info(`stopping: ${end.reason}`);
  else log.error(`stopping because a component failed: ${end.reason}`);
  endInTime(end, drainSeconds);
  // Drain only after a signal: after the loss of the database or the chains, no request can be
  // served.
  const serves = end.code === 0 && drainSeconds > 0;
  await running.stop(serves ? stop.hurry : AbortSignal.abort());
  process.exit(end.code);
}

interface Started {
  readonly running: Running;
  /** 0 if the process was stopped before it was ready. */
  readonly drainSeconds: number;
}

async function startOrExit(stop: Promise<End>, log: Log): Promise<Started> {
  let end: End | null = null;
  let started = false;
  const ends = new AbortController();
  void stop.then((asking) => {
    end = asking;
    ends.abort();
    if (!started) endInTime(asking, 0);
  });
  try {
    const config = readConfig(process.env, process.argv.slice(2));
    // A sandbox's log is the screen of `npm start`, which installs that Node itself.
    const holes = config.isSandbox ? null : knownHoles(process.versions.node);
    if (holes !== null) log.warn('this Node.js has known security holes', { node: holes });
    const running = await start(config, log, ends.signal);
    const { sandbox, lan } = running;
    if (sandbox !== null) console.log(screen(sandbox, config.dataDir));
    else console.log(`Tapline is running: ${[...config.roles].join(', ')}.`);
    if (sandbox !== null && lan !== null) console.log(lanScreen(lan, sandbox.test.device_key));
    started = true;
    return { running, drainSeconds: end === null ? config.drainSeconds : 0 };
  } catch (error) {
    // Ctrl+C also reaches child processes that are being started, which can make the start fail.
    if (end !== null) process.exit(0);
    if (error instanceof StartError) console.error(`tapline: ${error.message}`);
    else log.error('the start failed', { error: describeError(error) });
    process.exit(1);
  }
}

if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
  console.log(HELP);
  process.exit(0);
}
const log = stderrLog(undefined, {
  ...{ secrets: secretValues(process.env), release: RELEASE },
  asText: process.stderr.isTTY === true,
});
const stopRequest = askedToStop();
await stopAtTheEnd(await startOrExit(stopRequest.end, log), stopRequest, log);
