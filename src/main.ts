import { readConfig } from '#config.ts';
import { describeError, type Log, stderrLog } from '#core/log.ts';
import { StartError } from '#core/start-error.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { type Running, start } from '#start.ts';

/** decisions.md section 1: a stop takes at most 10 s. */
const STOP_MS = 9_500;

function screen(sandbox: SandboxFile, dataDir: string): string {
  return `
  Tapline is running.

  Web apps        ${sandbox.web_url}
  API             ${sandbox.base_url}/v1        reference: ${sandbox.web_url}/docs
  Test key        ${sandbox.test.secret_key}
  Test terminal   ${sandbox.test.terminal}
  Dashboard       ${sandbox.dashboard.email} / ${sandbox.dashboard.password}
  Everything else ${dataDir}/sandbox.json

  Ctrl+C stops it; the next start carries on with all of its data.
`;
}

interface End {
  readonly code: number;
  readonly reason: string;
}

/** Listens from the first moment: who is asked while starting also stops tidily, and with 0. */
function askedToStop(): Promise<End> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => resolve({ code: 0, reason: signal }));
    }
  });
}

/** Whatever still hangs when the time is over is left behind. */
function endInTime({ code }: End): void {
  setTimeout(() => process.exit(code), STOP_MS);
}

async function stopAtTheEnd(running: Running, asked: Promise<End>, log: Log): Promise<never> {
  const lost = running.lost.then((reason): End => ({ code: 1, reason }));
  const end = await Promise.race([asked, lost]);
  if (end.code === 0) log.info(`stopping: ${end.reason}`);
  else log.error(`stopping, because a part has died: ${end.reason}`);
  endInTime(end);
  await running.stop();
  process.exit(end.code);
}

async function startOrExit(asked: Promise<End>, log: Log): Promise<Running> {
  let end: End | null = null;
  void asked.then((asking) => {
    end = asking;
    endInTime(asking);
  });
  try {
    const config = readConfig(process.env, process.argv.slice(2));
    const running = await start(config, log);
    if (running.sandbox !== null) console.log(screen(running.sandbox, config.dataDir));
    else console.log(`Tapline is running: ${[...config.roles].join(', ')}.`);
    return running;
  } catch (error) {
    // A Ctrl+C also reaches what is just being started, and the start fails of that.
    if (end !== null) process.exit(0);
    if (error instanceof StartError) console.error(`tapline: ${error.message}`);
    else log.error('the start failed', { error: describeError(error) });
    process.exit(1);
  }
}

const log = stderrLog();
const asked = askedToStop();
await stopAtTheEnd(await startOrExit(asked, log), asked, log);
