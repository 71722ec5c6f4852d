import { readConfig } from '#config.ts';
import { describeError, type Log, stderrLog } from '#core/log.ts';
import { StartError } from '#core/start-error.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { type Running, start } from '#start.ts';

/** decisions.md section 1: a stop takes at most 10 s; whatever still hangs then is left behind. */
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

function stopOnSignal(running: Running, log: Log): void {
  let stopping = false;
  const stop = async (reason: string, code: number) => {
    if (stopping) return;
    stopping = true;
    log.info(`stopping: ${reason}`);
    const late = setTimeout(() => process.exit(code), STOP_MS);
    await running.stop();
    clearTimeout(late);
    process.exit(code);
  };
  process.on('SIGTERM', () => void stop('SIGTERM', 0));
  process.on('SIGINT', () => void stop('SIGINT', 0));
  void running.lost.then((reason) => {
    if (!stopping) log.error(reason);
    return stop('a part has died', 1);
  });
}

async function main(): Promise<void> {
  const log = stderrLog();
  try {
    const config = readConfig(process.env, process.argv.slice(2));
    const running = await start(config, log);
    stopOnSignal(running, log);
    if (running.sandbox !== null) console.log(screen(running.sandbox, config.dataDir));
    else console.log(`Tapline is running: ${[...config.roles].join(', ')}.`);
  } catch (error) {
    if (error instanceof StartError) console.error(`tapline: ${error.message}`);
    else log.error('the start failed', { error: describeError(error) });
    process.exit(1);
  }
}

await main();
