import { systemClock } from '#core/clock.ts';
import { NETWORKS } from '#core/mode.ts';
import { StartError } from '#core/start-error.ts';
import { openDatabase } from '#db/database.ts';
import { stderrLog } from '#observability/log.ts';
import { readCommandSettings } from '#ops/command-database.ts';
import { findRunningSandbox, type RunningSandbox } from '#sandbox/running-sandbox.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import { reportReconciliation } from '#settlement/reconciliation/reconcile-report.ts';

// `npm run reconcile [-- --rebuild]`: compares chains and database. Exit code 1 if they differ, 2
// if the comparison was impossible.

const UNKNOWN = 2;
/**
 * Maximum number of connections: few, so that commands leave the server's connections to the
 * service.
 */
const CONNECTIONS = 2;

async function reconcile(args: readonly string[]): Promise<number> {
  const wrong = args.find((arg) => arg !== '--rebuild');
  if (wrong !== undefined)
    throw new StartError(`unknown argument ${wrong}: only --rebuild is supported`);
  const config = readCommandSettings(process.env);
  let sandbox: RunningSandbox | undefined;
  const running = async () => {
    sandbox ??= await findRunningSandbox(config.dataDir);
    return sandbox;
  };
  const url = config.databaseUrl ?? (await running()).databaseUrl;
  const log = { ...stderrLog(), info: () => {} };
  const db = openDatabase({ url, maxConnections: CONNECTIONS });
  const chains = [];
  try {
    for (const network of NETWORKS) {
      const known = config.chains[network] ?? (await running()).network(network);
      chains.push(await openChain(known, log));
    }
    const deps = chains.map((chain) => ({ chain, db, clock: systemClock, log }));
    const print = (line: string) => console.log(line);
    return await reportReconciliation(deps, print, { rebuild: args.includes('--rebuild') });
  } finally {
    for (const chain of chains) await chain.close();
    await db.close();
  }
}

try {
  process.exitCode = await reconcile(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof StartError) && !(error instanceof RpcUnavailable)) throw error;
  console.error(`tapline: ${error.message}`);
  process.exitCode = UNKNOWN;
}
