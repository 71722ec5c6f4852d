import type { Hex } from '../data/bytes.ts';
import { fromRoot } from '../data/root-path.ts';
import type { Message } from './build-payment-message.ts';
import { Refused } from './connect-wallet.ts';

/** The operator's WalletConnect project and relay, which the server writes into the page's head. */
interface RelaySetting {
  readonly projectId: string;
  readonly relayUrl: string;
}

function relaySetting(): RelaySetting {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="walletconnect"]');
  const [projectId, relayUrl] = meta?.content.split(' ') ?? [];
  if (projectId === undefined || relayUrl === undefined) throw new Error('No relay is set.');
  return { projectId, relayUrl };
}

interface Session {
  readonly topic: string;
  readonly namespaces: Readonly<Record<string, { readonly accounts: readonly string[] }>>;
}

/** The part of the library's client that the page uses (src/web/walletconnect). */
export interface RelayClient {
  connect(params: {
    readonly optionalNamespaces: Readonly<Record<string, object>>;
  }): Promise<{ readonly uri?: string; approval(): Promise<Session> }>;
  request(call: {
    readonly topic: string;
    readonly chainId: string;
    readonly request: { readonly method: string; readonly params: readonly unknown[] };
  }): Promise<unknown>;
  disconnect(what: { readonly topic: string; readonly reason: object }): Promise<void>;
  readonly core: { readonly verify: { register(what: object): Promise<string> } };
}

interface Library {
  readonly SignClient: { init(options: object): Promise<RelayClient> };
}

/** Keeps the library's data in memory, so that no session remains in this browser. */
function memory() {
  const kept = new Map<string, unknown>();
  return {
    getKeys: async () => [...kept.keys()],
    getEntries: async () => [...kept.entries()],
    getItem: async (key: string) => kept.get(key),
    setItem: async (key: string, value: unknown) => void kept.set(key, value),
    removeItem: async (key: string) => void kept.delete(key),
  };
}

/**
 * Loads the library. A page creates only one client, because a second client would receive the same
 * messages.
 */
export async function openClient(): Promise<RelayClient> {
  const { projectId, relayUrl } = relaySetting();
  const { SignClient } = (await import(
    /* @vite-ignore */ fromRoot('walletconnect.js').href
  )) as Library;
  const client = await SignClient.init({
    projectId,
    relayUrl,
    storage: memory(),
    telemetryEnabled: false,
    logger: 'silent',
    metadata: {
      name: 'Tapline',
      description: 'Pays one bill, which the wallet shows.',
      url: location.origin,
      icons: [fromRoot('icons/tapline.svg').href],
    },
  });
  // Disabled, because the library's verification loads a third-party frame, which the page's CSP
  // forbids.
  client.core.verify.register = async () => '';
  return client;
}

/** Codes for a user's rejection in EIP-1193 and CAIP-25. */
const REJECTED: ReadonlySet<unknown> = new Set([4001, 5000, 5001, 5002, 5003]);
const ENDED = { code: 6000, message: 'The payment is signed.' };

async function orRefused<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (cause) {
    const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : null;
    if (REJECTED.has(code)) throw new Refused({ cause });
    throw cause;
  }
}

export interface RelayWallet {
  readonly address: Hex;
  /** @throws Refused */
  sign(message: Message): Promise<Hex>;
}

export interface Invitation {
  /** Pairing URI `wc:…`, shown as a QR code or opened as a link to a wallet app on this device. */
  readonly uri: string;
  /** Resolves when a wallet accepts the session. @throws Refused */
  readonly wallet: Promise<RelayWallet>;
}

/** Creates a session proposal for wallets that support the payment's chain. */
export async function inviteWallet(client: RelayClient, chain: number): Promise<Invitation> {
  const chainId = `eip155:${chain}`;
  const methods = ['eth_signTypedData_v4'];
  const requested = { eip155: { chains: [chainId], methods, events: [] } };
  const { uri, approval } = await client.connect({ optionalNamespaces: requested });
  if (uri === undefined) throw new Error('The relay gave no address for the wallet.');
  const enter = async (): Promise<RelayWallet> => {
    const { topic, namespaces } = await orRefused(approval());
    const account = namespaces.eip155?.accounts.find((one) => one.startsWith(`${chainId}:`));
    if (account === undefined) throw new Refused();
    const address = account.slice(chainId.length + 1) as Hex;
    return {
      address,
      sign: async (message) => {
        const params = [address, JSON.stringify(message)];
        const request = { method: 'eth_signTypedData_v4', params };
        try {
          return (await orRefused(client.request({ topic, chainId, request }))) as Hex;
        } finally {
          // Ignores a failure: the session then expires on the wallet's side.
          client.disconnect({ topic, reason: ENDED }).catch(() => {});
        }
      },
    };
  };
  return { uri, wallet: enter() };
}
