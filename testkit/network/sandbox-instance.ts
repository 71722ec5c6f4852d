import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** The message that the process sends once its parts are running. */
export interface InstanceReport {
  url?: string;
  rpcUrl?: string;
  fresh?: boolean;
  log: string[];
}

/** Another process that holds a data folder, for tests that kill that process. */
export interface Instance {
  readonly process: ChildProcess;
  readonly report: InstanceReport;
  kill(signal: NodeJS.Signals): Promise<void>;
}

const PROGRAM = `
  const [folderPath, parts, base] = process.argv.slice(1);
  const use = (file) => import(new URL(file, base).href);
  const { openDataFolder } = await use('../../src/sandbox/data-folder.ts');
  const { startPostgres } = await use('../../src/sandbox/start-postgres.ts');
  const { startThrowawayPostgres } = await use('../fixtures/db/throwaway-postgres.ts');
  const { startChainNode } = await use('../../src/sandbox/chain-node.ts');
  const { startThrowawayChain } = await use('./throwaway-chain.ts');
  const report = { log: [] };
  const log = (line) => report.log.push(line);
  const folder = await openDataFolder(folderPath);
  if (parts.includes('postgres')) report.url = (await startPostgres({ folder, log })).url;
  if (parts.includes('chain')) {
    const site = { folder, name: 'testnet', chainId: 31337, blockMs: 1_000 };
    const chain = await startChainNode({ ...site, log });
    Object.assign(report, { rpcUrl: chain.rpcUrl, fresh: chain.fresh });
  }
  if (parts.includes('throwaways')) {
    report.url = (await startThrowawayPostgres()).url;
    report.rpcUrl = (await startThrowawayChain({ chainId: 31337 })).rpcUrl;
  }
  process.once('SIGTERM', () => process.exit(0));
  console.log(JSON.stringify(report));
  setInterval(() => {}, 60_000);
`;

/**
 * Starts a process that opens the folder, runs the parts and waits to be killed.
 * @throws Error with the process's output if it ended before its parts ran.
 */
export async function startInstance(
  folder: string,
  parts: readonly ('postgres' | 'chain' | 'throwaways')[],
  account: { uid?: number; gid?: number; env?: NodeJS.ProcessEnv } = {},
): Promise<Instance> {
  const args = ['--input-type=module', '-e', PROGRAM, folder, parts.join(), import.meta.url];
  const child = spawn(process.execPath, args, { ...account, stdio: ['ignore', 'pipe', 'pipe'] });
  let faults = '';
  child.stderr.on('data', (chunk) => {
    faults += String(chunk);
  });
  const ended = once(child, 'exit');
  const reported = once(createInterface(child.stdout), 'line');
  const [line] = await Promise.race([reported, ended.then(() => [undefined])]);
  if (typeof line !== 'string') throw new Error(`The instance ended early: ${faults}`);
  return {
    process: child,
    report: JSON.parse(line),
    kill: async (signal) => {
      child.kill(signal);
      await ended;
    },
  };
}
