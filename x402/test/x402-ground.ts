import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import {
  type Address,
  createTestClient,
  createWalletClient,
  http,
  parseAbi,
  publicActions,
} from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { type Caller, caller } from '../../testkit/apis/api-client.ts';
import { signInWallet } from '../../testkit/apis/wallet-sign-in.ts';
import { type Listening, listen } from '../../testkit/network/listen.ts';
import { openSharedSandbox, type SharedSandbox } from '../../testkit/network/shared-sandbox.ts';
import {
  type Facilitator,
  type FacilitatorOptions,
  openFacilitator,
  paywallOf,
  type Settled,
  serverOf,
} from '../src/index.ts';

/** A real network, a facilitator with its own bridge wallet, and independent buyers. */
export interface X402Ground {
  readonly shared: SharedSandbox;
  readonly merchant: Caller;
  readonly facilitator: Facilitator;
  readonly bridge: PrivateKeyAccount;
  /** Creates a second process with the same settings. */
  another(changed?: Partial<FacilitatorOptions>): Promise<Facilitator>;
  settings(): FacilitatorOptions & { readonly privateKey: `0x${string}` };
  fund(account: Address, atoms: bigint): Promise<void>;
  newBuyer(atoms: bigint): Promise<PrivateKeyAccount>;
  usdcOf(account: Address): Promise<bigint>;
  /**
   * Returns the atoms that the bridge paid to the merchant. Other tests sell in the same sandbox.
   */
  merchantReceived(): Promise<bigint>;
  /** Limits what the bridge may pay per sale; `null` removes the limit. */
  limitBridge(atoms: number | null): Promise<void>;
  /**
   * Opens a shop with a paywall.
   * @returns its URL
   */
  openShop(price: number, facilitator?: Facilitator): Promise<string>;
  close(): Promise<void>;
}

const ABI = parseAbi([
  'function mint(address to, uint256 amount)',
  'function balanceOf(address account) view returns (uint256)',
]);
/** Gas for the duration of a test. */
const ETHER = 10n ** 18n;
/** Polling interval, in place of viem's default of four seconds. */
const LOOK_MS = 100;
const LIMITS = { perPayment: 100_000_000, perDay: 1_000_000_000 };

type Mode = SharedSandbox['sandbox']['test'];

export async function openX402Ground(own?: SharedSandbox): Promise<X402Ground> {
  const shared = own ?? (await openSharedSandbox());
  const { base_url: baseUrl, web_url, account, test: mode } = shared.sandbox;
  const privateKey = generatePrivateKey();
  const bridge = privateKeyToAccount(privateKey);
  const merchant = caller(`${baseUrl}/v1`, mode.secret_key);
  const { fund, usdcOf, giveGas } = onChain(mode);
  await giveGas(bridge.address);
  const settings = () => {
    const { secret_key: apiKey, agent_terminal: terminal, rpc_url: rpcUrl } = mode;
    return { baseUrl, apiKey, account, terminal, privateKey, rpcUrl, limits: LIMITS };
  };
  const open: Facilitator[] = [];
  const another = async (changed: Partial<FacilitatorOptions> = {}) => {
    const facilitator = await openFacilitator({ ...settings(), ...changed });
    open.push(facilitator);
    return facilitator;
  };
  const facilitator = await another();
  const shops = startShops();
  return {
    ...{ shared, merchant, facilitator, bridge, another, settings, usdcOf, fund },
    newBuyer: async (atoms) => {
      const buyer = privateKeyToAccount(generatePrivateKey());
      await fund(buyer.address, atoms);
      return buyer;
    },
    merchantReceived: () => received(merchant, bridge.address),
    limitBridge: async (atoms) => {
      const token = await signInWallet(web_url, bridge, { chainId: mode.chain_id });
      await caller(`${baseUrl}/payer/v1`, token).send('PATCH', '/limits', {
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ per_payment: atoms }),
      });
    },
    openShop: (price, seller = facilitator) => shops.open(price, seller),
    close: async () => {
      for (const one of open) one.close();
      await shops.close();
      await shared.close();
    },
  };
}

interface Payments {
  readonly data: readonly {
    readonly id: string;
    readonly payer: string;
    readonly amount: number;
  }[];
  readonly next_cursor: string | null;
}

/** Returns the total that this payer has paid the merchant, over all pages of its payments. */
async function received(merchant: Caller, payer: Address): Promise<bigint> {
  let sum = 0n;
  let cursor: string | null = null;
  do {
    const { body } = await merchant.get(`/payments?limit=100${cursor ? `&cursor=${cursor}` : ''}`);
    const { data, next_cursor } = body as unknown as Payments;
    for (const payment of data) if (isSame(payment.payer, payer)) sum += BigInt(payment.amount);
    cursor = next_cursor;
  } while (cursor !== null);
  return sum;
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Funds accounts on the sandbox's chain, like a faucet. */
function onChain(mode: Mode) {
  const chain = { ...foundry, id: mode.chain_id };
  const transport = http(mode.rpc_url);
  const node = createTestClient({
    mode: 'anvil',
    chain,
    transport,
    pollingInterval: LOOK_MS,
  }).extend(publicActions);
  const token = { address: mode.usdc as Address, abi: ABI } as const;
  const giveGas = (address: Address) => node.setBalance({ address, value: ETHER });
  return {
    giveGas,
    fund: async (address: Address, atoms: bigint) => {
      // Creates a funding account per call, so that many accounts can be funded concurrently.
      const account = privateKeyToAccount(generatePrivateKey());
      const minter = createWalletClient({ account, chain, transport });
      await giveGas(account.address);
      const args = [address, atoms] as const;
      const hash = await minter.writeContract({ ...token, functionName: 'mint', args });
      await node.waitForTransactionReceipt({ hash });
    },
    usdcOf: (address: Address) =>
      node.readContract({ ...token, functionName: 'balanceOf', args: [address] }),
  };
}

/** Servers with a paywall. */
function startShops() {
  const servers: Listening[] = [];
  return {
    open: async (price: number, seller: Facilitator) => {
      const paywall = paywallOf(seller);
      const shop = serverOf(async (request) => {
        const paid = await paywall(request, { price, description: 'Coffee of the day' });
        if (paid instanceof Response) return paid;
        const { headers, paymentIntent } = paid;
        return Response.json({ coffee: 'Ethiopia, washed', paymentIntent }, { headers });
      });
      const server = await listen(shop);
      servers.push(server);
      return `${server.url}/coffee`;
    },
    close: () => Promise.all(servers.map((server) => server.close())),
  };
}

/** Returns the extensions of a payload whose client names its purchase. */
export function identifiedBy(id: string) {
  return { 'payment-identifier': { info: { required: false, id } } };
}

/** Settles over HTTP. The packages' client drops fields of refusals. */
export async function settleAt(
  url: string,
  signed: { readonly payload: unknown; readonly requirements: unknown },
  headers: Readonly<Record<string, string>> = {},
): Promise<Settled & { readonly status: number }> {
  const { payload: paymentPayload, requirements: paymentRequirements } = signed;
  const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements });
  const response = await fetch(`${url}/settle`, { method: 'POST', headers, body });
  return { status: response.status, ...((await response.json()) as Settled) };
}

/**
 * Follows the packages' own guide. The test token must be allowed explicitly, like any unusual
 * token.
 */
export function payingFetch(
  { shared }: { readonly shared: Pick<SharedSandbox, 'sandbox'> },
  account: PrivateKeyAccount,
  send: (request: Request) => Promise<Response> = (request) => fetch(request),
) {
  const { chain_id, usdc } = shared.sandbox.test;
  const network = `eip155:${chain_id}` as const;
  return wrapFetchWithPaymentFromConfig((...sent) => send(new Request(...sent)), {
    schemes: [{ network, client: new ExactEvmScheme(account) }],
    spendControls: { allowedAssets: [{ network, asset: usdc }] },
  });
}
