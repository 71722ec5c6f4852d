import { concat, getCreate2Address, type Hex, numberToHex, serializeErc6492Signature } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Sql } from '#db/database.ts';
import { WALLET_FACTORIES } from '#settlement/chain-profiles.ts';
import { keyWalletCode } from '#testkit/apis/pay-links.ts';
import { newWallet } from '#testkit/apis/wallet-sign-in.ts';
import type { TestNetwork } from '#testkit/network/test-network.ts';

/** Code of a factory that deploys its call data as a contract (CREATE2, salt 0). */
const HONEST: Hex = '0x365f5f375f365f5ff500';
/**
 * Code of a factory that deploys its call data only if gas is free, as in a simulation. In a real
 * transaction, it reverts.
 */
const HOSTILE: Hex = '0x3a156008575f5ffd5b365f5f375f365f5ff500';

export const FACTORIES = {
  honest: numberToHex(0xfac70001n, { size: 20 }),
  hostile: numberToHex(0xfac70002n, { size: 20 }),
  unlisted: numberToHex(0xfac70003n, { size: 20 }),
} as const;

/** Returns settings that list the honest and the hostile factory, and well-known ones. */
export function listing() {
  return { walletFactories: [FACTORIES.honest, FACTORIES.hostile, ...WALLET_FACTORIES] };
}

/** Gives the factories their code. */
export async function addFactories({ rpc }: Pick<TestNetwork, 'rpc'>): Promise<void> {
  const { honest, hostile, unlisted } = FACTORIES;
  for (const one of [honest, unlisted]) await rpc.call('anvil_setCode', [one, HONEST]);
  await rpc.call('anvil_setCode', [hostile, HOSTILE]);
}

interface Deployable {
  readonly from: Hex;
  readonly factory: Hex;
  readonly data: Hex;
}

/** A wallet that its factory has not deployed yet. */
export interface FactoryWallet extends Deployable {
  /**
   * Signs with the wallet's key and, as in ERC-6492, wraps the signature with the call that deploys
   * the wallet.
   */
  readonly account: PrivateKeyAccount;
}

interface Made {
  readonly factory?: Hex;
  readonly manner?: 'honest' | 'two_faced';
  /** Bytes that are appended to each signature. The wallet ignores them. */
  readonly tail?: Hex;
}

export function factoryWallet(made: Made = {}): FactoryWallet {
  const { factory = FACTORIES.honest, manner = 'honest', tail } = made;
  const key = newWallet();
  const data = keyWalletCode(key.address, manner);
  const salt = numberToHex(0, { size: 32 });
  const from = getCreate2Address({ from: factory, salt, bytecode: data });
  const wallet = { from, factory, data };
  return { ...wallet, account: wrapping(key, wallet, tail) };
}

/**
 * Returns an account with the wallet's address. It signs with this key and wraps its signatures.
 */
export function wrapping(
  key: PrivateKeyAccount,
  { from, factory, data }: Deployable,
  tail: Hex = '0x',
): PrivateKeyAccount {
  const wrap = (signature: Hex) =>
    serializeErc6492Signature({ address: factory, data, signature: concat([signature, tail]) });
  const signTypedData: PrivateKeyAccount['signTypedData'] = async (typed) =>
    wrap(await key.signTypedData(typed));
  const signMessage: PrivateKeyAccount['signMessage'] = async (message) =>
    wrap(await key.signMessage(message));
  return { ...key, address: from, signTypedData, signMessage };
}

/**
 * Returns the states of all deployments, or of one wallet's, in the order in which they were
 * requested.
 */
export async function deploymentsIn(sql: Sql, wallet?: Hex): Promise<string[]> {
  const rows = await sql.query<{ status: string }>(
    `select status from chain_requests
     where kind = 'wallet_deployment' and subject_id like '%' || lower($1) order by id`,
    [wallet ?? ''],
  );
  return rows.map(({ status }) => status);
}
