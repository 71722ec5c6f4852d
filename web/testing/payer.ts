import assert from 'node:assert/strict';
import {
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  parseAbi,
  type TypedDataDefinition,
} from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import type { TestWindow } from './browser.ts';
import { postAsMerchant, type TestTerminal } from './till.ts';

const TOKEN = parseAbi(['function mint(address to, uint256 amount)']);
/** One unit of the chain's currency, to pay for the test's own transactions. */
const ONE_COIN = '0xde0b6b3a7640000';

export async function rpc(
  sandbox: SandboxFile,
  method: string,
  params: readonly unknown[] = [],
): Promise<unknown> {
  const response = await fetch(sandbox.test.rpc_url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: object };
  if (error !== undefined) throw Object.assign(new Error(JSON.stringify(error)), error);
  return result;
}

export async function fundedAccount(
  sandbox: SandboxFile,
  usdc: bigint,
): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  if (usdc > 0n) await fund(sandbox, account, usdc);
  return account;
}

export async function fund(
  sandbox: SandboxFile,
  account: PrivateKeyAccount,
  usdc: bigint,
): Promise<void> {
  await rpc(sandbox, 'anvil_setBalance', [account.address, ONE_COIN]);
  const transport = http(sandbox.test.rpc_url);
  const client = createWalletClient({ account, transport });
  const hash = await client.writeContract({
    chain: null,
    address: sandbox.test.usdc as Hex,
    abi: TOKEN,
    functionName: 'mint',
    args: [account.address, usdc],
  });
  await createPublicClient({ transport, pollingInterval: 100 }).waitForTransactionReceipt({ hash });
}

/** An injected wallet (EIP-1193): simulated in the page, with a real key and the real chain. */
export interface InjectedWallet {
  readonly account: PrivateKeyAccount;
  /** The requests that the wallet received, in order. */
  readonly asked: string[];
  /** True if the user declines the next signature. */
  refuse: boolean;
  chainId: number;
  /** Replaces the balance that the wallet's own node reports. */
  told: bigint | null;
  /** True if the wallet can switch to the payment's chain. */
  canSwitch: boolean;
}

function fail(code: number, message: string): never {
  throw Object.assign(new Error(message), { code });
}

async function answer(
  wallet: InjectedWallet,
  sandbox: SandboxFile,
  { method, params }: { readonly method: string; readonly params: readonly unknown[] },
): Promise<unknown> {
  wallet.asked.push(method);
  switch (method) {
    case 'eth_accounts':
      return wallet.asked.includes('eth_requestAccounts') ? [wallet.account.address] : [];
    case 'eth_requestAccounts':
      return [wallet.account.address];
    case 'eth_chainId':
      return `0x${wallet.chainId.toString(16)}`;
    case 'eth_call':
      if (wallet.told === null) return rpc(sandbox, method, params);
      return `0x${wallet.told.toString(16).padStart(64, '0')}`;
    case 'wallet_switchEthereumChain':
      if (!wallet.canSwitch) fail(4902, 'Unknown chain');
      wallet.chainId = sandbox.test.chain_id;
      return null;
    case 'eth_signTypedData_v4': {
      if (wallet.refuse) fail(4001, 'User rejected the request');
      assert.equal(String(params[0]).toLowerCase(), wallet.account.address.toLowerCase());
      const typed = JSON.parse(String(params[1])) as TypedDataDefinition;
      return wallet.account.signTypedData(typed);
    }
    default:
      return rpc(sandbox, method, params);
  }
}

/** Injects a wallet. Call it before the page is opened. */
export async function injectWallet(
  { page }: TestWindow,
  sandbox: SandboxFile,
  account: PrivateKeyAccount,
): Promise<InjectedWallet> {
  const wallet: InjectedWallet = {
    account,
    asked: [],
    refuse: false,
    told: null,
    chainId: sandbox.test.chain_id,
    canSwitch: true,
  };
  await page.exposeFunction('askWallet', async (method: string, params: unknown[]) => {
    try {
      return { value: await answer(wallet, sandbox, { method, params }) };
    } catch (error) {
      return { error: { code: (error as { code?: number }).code, message: String(error) } };
    }
  });
  await page.addInitScript(`window.ethereum = {
    request: async ({ method, params = [] }) => {
      const { value, error } = await window.askWallet(method, params);
      if (error) throw Object.assign(new Error(error.message), { code: error.code });
      return value;
    },
  };`);
  return wallet;
}

/** Creates a payment of this amount. @returns the URL in the till's QR code. */
export async function askForPayment(
  sandbox: SandboxFile,
  terminal: TestTerminal,
  body: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly id: string; readonly url: string }> {
  const all = { amount: 2_500_000, terminal: terminal.id, ...body };
  const { id } = await postAsMerchant(sandbox, '/payment_intents', all);
  return { id: String(id), url: await payLinkOf(sandbox, terminal, id) };
}

/** Returns the URL in the QR code that a till shows for an open payment. */
export async function payLinkOf(
  sandbox: SandboxFile,
  terminal: TestTerminal,
  id: unknown,
): Promise<string> {
  const response = await fetch(`${sandbox.base_url}/device/v1/payment_intents/${id}`, {
    headers: { Authorization: `Bearer ${terminal.deviceKey}` },
  });
  const { payment_url: url } = (await response.json()) as { payment_url: string | null };
  assert.ok(url !== null, 'the till has no link');
  return url;
}
