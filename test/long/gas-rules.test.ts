import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import {
  createTestClient,
  custom,
  type Hex,
  numberToHex,
  publicActions,
  walletActions,
} from 'viem';
import { foundry } from 'viem/chains';
import { present } from '#core/assert.ts';
import { installTool } from '#testkit/fixtures/core/tools.ts';
import { openTemporaryFolder } from '#testkit/fixtures/db/temporary-folder.ts';
import { type Counted, countTrace } from '../../contracts/gas-rules/count-trace.ts';
import { limitOf, type Need } from '../../contracts/gas-rules/limits.ts';
import { measurePaths } from '../../contracts/gas-rules/measure-paths.ts';
import { STATE_ONLY } from '../../contracts/gas-rules/prices.ts';
import { installSafe } from '../../contracts/gas-rules/safe-contracts.ts';
import { FIAT_TOKEN_MISSING } from '../../contracts/test/fiat-token.ts';
import { startTestNode, type TestClient, type TestNode } from '../../contracts/test/test-node.ts';

/**
 * Sends each transaction of docs/gas-rules.md to an EVM that counts gas for state (EIP-8037) and
 * has the higher floor of call data (EIP-7976): EDR, the node of Hardhat. It has no EIP-8038 and no
 * EIP-2780.
 */

const NEEDS = path.join(import.meta.dirname, '../../contracts/gas-rules/needs.json');
/** More than the largest step of a deployment. A block has room for several. */
const GAS = 60_000_000n;
const BLOCK_GAS = 1_000_000_000n;
const BALANCE = 10n ** 24n;

/** The part of EDR's interface that is used here. */
interface Edr {
  readonly L1_CHAIN_TYPE: string;
  readonly MineOrdering: { readonly Fifo: unknown };
  l1ProviderFactory(): unknown;
  readonly ContractDecoder: new () => unknown;
  readonly EdrContext: new () => {
    registerProviderFactory(chainType: string, factory: unknown): Promise<void>;
    createProvider(chainType: string, ...settings: readonly unknown[]): Promise<Provider>;
  };
}
interface Provider {
  handleRequest(request: string): Promise<{ readonly data: unknown }>;
}
type Answer = { readonly result?: unknown; readonly error?: { readonly message: string } };

async function startProvider(edr: Edr): Promise<Provider> {
  const context = new edr.EdrContext();
  await context.registerProviderFactory(edr.L1_CHAIN_TYPE, edr.l1ProviderFactory());
  const network = {
    genesisBlockGasLimit: BLOCK_GAS,
    genesisBlobGas: { gasUsed: 0n, excessGas: 0n },
  };
  const settings = {
    ...{ allowBlocksWithSameTimestamp: true, allowUnlimitedContractSize: false },
    ...{ bailOnCallFailure: false, bailOnTransactionFailure: false },
    ...{ chainId: BigInt(foundry.id), networkId: BigInt(foundry.id), hardfork: 'amsterdam' },
    ...{ coinbase: new Uint8Array(20), defaultTransactionGasLimit: GAS, genesisState: [] },
    ...{ initialBaseFeePerGas: 1n, minGasPrice: 0n, network },
    initialParentBeaconBlockRoot: new Uint8Array(32),
    // EDR applies the cap of EIP-7825 to all gas, but EIP-8037 to regular gas only.
    transactionGasCap: false,
    mining: { autoMine: true, memPool: { order: edr.MineOrdering.Fifo } },
    ...{ observability: { includeCallTraces: 0 }, ownedAccounts: [], precompileOverrides: [] },
  };
  const silent = {
    ...{ enable: false, printLineCallback: () => {} },
    decodeConsoleLogInputsCallback: () => [],
  };
  const unheard = { subscriptionCallback: () => {} };
  const decoder = new edr.ContractDecoder();
  return context.createProvider(edr.L1_CHAIN_TYPE, settings, silent, unheard, decoder);
}

async function startEdr(edr: Edr): Promise<TestNode> {
  const provider = await startProvider(edr);
  const request = async ({ method, params }: { method: string; params?: unknown }) => {
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: params ?? [] });
    const { data } = await provider.handleRequest(call);
    const { result, error } = (typeof data === 'string' ? JSON.parse(data) : data) as Answer;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  const client = createTestClient({
    ...{ mode: 'hardhat', chain: foundry, transport: custom({ request }), cacheTime: 0 },
  })
    .extend(publicActions)
    .extend(walletActions) as unknown as TestClient;
  return {
    client,
    send: async ({ from, to, data, gas = GAS }) => {
      await client.setBalance({ address: from, value: BALANCE });
      await client.impersonateAccount({ address: from });
      const params = [{ from, data, gas: numberToHex(gas), ...(to && { to }) }];
      const hash = (await request({ method: 'eth_sendTransaction', params })) as Hex;
      const receipt = await client.getTransactionReceipt({ hash });
      assert.equal(receipt.status, 'success', `a transaction with ${gas} gas`);
      return receipt;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

test('an EVM with gas for state charges what the traces say, within the limits of the code', {
  skip: FIAT_TOKEN_MISSING,
}, async () => {
  const temporary = await openTemporaryFolder('tapline-gas-rules');
  const needs: readonly Need[] = JSON.parse(await readFile(NEEDS, 'utf8'));
  try {
    const folder = temporary.folder.path;
    const safe = await installSafe(path.join(folder, 'safe'));
    const tool = await installTool('hardhat', path.join(folder, 'hardhat'));
    const entry = path.join(tool.installed('@nomicfoundation/edr'), 'index.js');
    const { default: edr } = (await import(pathToFileURL(entry).href)) as { default: Edr };
    const traced = await measureOnAnvil(safe);
    await using node = await startEdr(edr);
    const charged = await measurePaths(
      node,
      safe,
      async (hash) => Number((await node.client.getTransactionReceipt({ hash })).gasUsed),
      (name) => {
        const need = needs.find((one) => one.path === name);
        return need && (limitOf(name, need.glamsterdam.needed) ?? undefined);
      },
    );
    assert.ok(charged.length >= 24 && charged.length === traced.size);
    for (const [name, gasUsed] of charged) {
      const counted = present(traced.get(name), name);
      const { regular, state } = counted.used(STATE_ONLY);
      const least = counted.floor(STATE_ONLY);
      assert.equal(gasUsed, Math.max(regular + state - counted.refunded, least), name);
    }
  } finally {
    await temporary.remove();
  }
});

async function measureOnAnvil(
  safe: Parameters<typeof measurePaths>[1],
): Promise<ReadonlyMap<string, Counted>> {
  await using node = await startTestNode(['--steps-tracing', '--gas-limit', String(BLOCK_GAS)]);
  return new Map(await measurePaths(node, safe, (hash) => countTrace(node.client, hash)));
}
