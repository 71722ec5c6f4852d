import { join } from 'node:path';
import { type Mining, rpcUrlOf, startAnvil } from '#sandbox/anvil.ts';
import { KILL_STEP, openChildLog, stopProcess } from '#sandbox/find-and-stop-processes.ts';
import { openTemporaryFolder } from '#testkit/fixtures/db/temporary-folder.ts';

export interface ThrowawayChain {
  readonly rpcUrl: string;
  readonly chainId: number;
  stop(): Promise<void>;
}

/**
 * Starts a separate anvil for tests. It is ready in about 0.1 s, and ends at `stop()`, or when the
 * test's process is killed. `blockTime`: seconds (fractions allowed, default 1). `automine`: a
 * block per transaction. `manual`: blocks only by `evm_mine`.
 */
export async function startThrowawayChain(options: {
  chainId: number;
  blockTime?: number | 'automine' | 'manual';
}): Promise<ThrowawayChain> {
  const { chainId } = options;
  const temporary = await openTemporaryFolder('tapline-chain');
  const folder = temporary.folder.path;
  const log = openChildLog(join(folder, 'chain.log'));
  const end = async () => {
    log.close();
    await temporary.remove();
  };
  try {
    const mining = miningOf(options.blockTime ?? 1);
    const cacheFolder = join(folder, 'cache');
    const node = await startAnvil({ chainId, mining, cacheFolder }, { folder, log });
    temporary.endWithUs(node.pid);
    const stop = async () => {
      // The chain stores nothing, so it is killed immediately.
      await stopProcess(node.pid, [KILL_STEP]);
      await end();
    };
    let stopped: Promise<void> | undefined;
    return {
      rpcUrl: rpcUrlOf(node.port),
      chainId,
      stop: () => {
        stopped ??= stop();
        return stopped;
      },
    };
  } catch (cause) {
    await end();
    throw cause;
  }
}

function miningOf(blockTime: number | 'automine' | 'manual'): Mining {
  if (blockTime === 'automine') return { kind: 'every transaction' };
  if (blockTime === 'manual') return { kind: 'on request' };
  return { kind: 'interval', seconds: blockTime };
}
