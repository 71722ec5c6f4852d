// An anvil node that mines one block per transaction, for measuring and testing contracts alone.

import { type ChildProcess, spawn } from 'node:child_process';
import {
  createTestClient,
  type Hex,
  http,
  publicActions,
  type TransactionReceipt,
  walletActions,
} from 'viem';
import { foundry } from 'viem/chains';
import { foundryBinary } from '../foundry-binary.ts';

/** Time limit for the node's start, which takes 0.1 s on an idle machine. */
const START_LIMIT_MS = 20_000;

/**
 * The time of the chain's first block, in seconds, near noon. Times are part of the calldata, and a
 * zero byte costs less: with the machine's own clock the gas of an operation would vary by the
 * hour.
 */
const CHAIN_START = 0x6b11_5555;

/** Below the 16.78 M that a transaction may use, and enough for all transactions here. */
const GAS_LIMIT = 16_000_000n;

export type TestClient = ReturnType<typeof connect>;

export interface TestNode extends AsyncDisposable {
  readonly client: TestClient;
  /** Sends a transaction from any address, mines it, and throws if it reverted. */
  send(transaction: {
    from: Hex;
    to?: Hex;
    data: Hex;
    /** The gas limit; default: enough for all transactions here. */
    gas?: bigint | undefined;
  }): Promise<TransactionReceipt>;
}

/** Starts a node on a free port; `await using` stops it. */
export async function startTestNode(more: readonly string[] = []): Promise<TestNode> {
  // Anvil's automine sometimes leaves a transaction unmined, so the test requests each block.
  const clock = ['--timestamp', String(CHAIN_START)];
  const options = ['--port', '0', '--auto-impersonate', '--no-mining', ...clock, ...more];
  const child = spawn(foundryBinary('anvil'), options, {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const client = connect(`http://127.0.0.1:${await listeningPort(child)}`);
  return {
    client,
    async send({ from, to, data, gas = GAS_LIMIT }) {
      const request = { from, data, gas, ...(to && { to }) };
      const hash = await client.sendUnsignedTransaction(request);
      await client.mine({ blocks: 1 });
      const receipt = await client.getTransactionReceipt({ hash });
      if (receipt.status !== 'success') throw new Error(`transaction ${hash} was reverted`);
      return receipt;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
    },
  };
}

function connect(url: string) {
  return createTestClient({ mode: 'anvil', chain: foundry, transport: http(url), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);
}

function listeningPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('anvil did not start')), START_LIMIT_MS);
    child.once('exit', (code) => reject(new Error(`anvil exited with ${code}`)));
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(text)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(Number(port));
    });
  });
}
