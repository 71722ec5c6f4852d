import assert from 'node:assert/strict';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { ChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';

/** Deploys a contract by the guide's command, with roles as an operator would give them. */

const CALL = { jsonrpc: '2.0', id: 1, method: 'anvil_setBalance' } as const;
const addressOf = (key: unknown) => privateKeyToAccount(key as Hex).address;

/**
 * Deploys the settlement contract of the test network.
 * @param deploy types the command with these options, and the paying key as its input
 * @returns the settings that it prints, and the ground with this contract
 */
export async function deployByGuide(
  ground: ChaosGround,
  settings: Readonly<Record<string, string>>,
  deploy: (payingKey: string, options: string) => Promise<string>,
): Promise<{ readonly printed: Readonly<Record<string, string>>; readonly ground: ChaosGround }> {
  const { config } = ground.testnet;
  const { CHAIN_TESTNET_RPC_URL: url = '' } = settings;
  const paying = generatePrivateKey();
  const [proposer, steward, treasurer, ...others] = Array.from({ length: 7 }, () =>
    addressOf(generatePrivateKey()),
  );
  const params = [addressOf(paying), '0xde0b6b3a7640000'];
  await fetch(url, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ ...CALL, params }),
  });
  const operators = [...config.relayerKeys.map(addressOf), ...others.slice(2)].join();
  const options = [
    ...[`--rpc-url ${url} --usdc ${config.usdc} --proposers ${proposer} --steward ${steward}`],
    `--treasurer ${treasurer}`,
    `--guardians ${others.slice(0, 2).join()} --registrar ${addressOf(config.registrarKey)}`,
    `--operators ${operators} --wallet-delay-hours 24 --payout-hold-hours 24`,
    '--hourly-ceiling 100000 --rates 30,20,5',
    `--usdc-name '${config.usdcDomain.name}' --usdc-version ${config.usdcDomain.version}`,
  ].join(' ');
  const said = await deploy(paying, options);
  const printed = Object.fromEntries(
    [...said.matchAll(/^(CHAIN_TESTNET_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  assert(/^0x/.test(printed.CHAIN_TESTNET_SETTLEMENT), said);
  const settlement = printed.CHAIN_TESTNET_SETTLEMENT as Hex;
  const testnet = { ...ground.testnet, config: { ...config, settlement } };
  return { printed, ground: { ...ground, testnet } };
}
