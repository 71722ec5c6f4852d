import type { LocalAccount } from 'viem/accounts';
import type { Network as ChainNetwork } from '#core/mode.ts';
import type { PassFiles } from '#payers/pass-files.ts';
import type { AskHome, Preflight } from '#payments/pay-request.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import type { Realm } from '#people/user-queries.ts';
import type { StaticPassTerms } from '#risk/risk-rules.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';
import type { GasPolicy } from '#settlement/gas-budget.ts';
import type { Readiness } from '#settlement/network-readiness.ts';
import type { Network } from '#webhooks/connect-to-receivers.ts';

/**
 * The context of a process with the role `api`. Routes pass it to use cases, which pass single
 * fields of it to the functions below them. Each process has one such object, created in
 * `src/app/create-api-context.ts` and never copied, because {@link perProcess} identifies a
 * process's batchers by the object.
 */
export interface ApiContext extends ChainContext {
  /** The current state of both networks, such as whether they settle. */
  readonly readiness: Readiness;
  readonly settings: ApiSettings;
  readonly people: Readonly<Record<Realm, PeopleDeps>>;
  readonly outside: Outside;
  readonly demo: DemoPasses;
}

interface ApiSettings {
  readonly production: boolean;
  readonly isSandbox: boolean;
  /** Settings of each network's chain; `null` for the chain that a sandbox starts itself. */
  readonly chains: Readonly<Record<ChainNetwork, object | null>>;
  /** Seconds after a tap or its payer's approval within which the payment must be in a block. */
  readonly settleWithinS: number;
  /** Time in milliseconds for which a response waits for a settlement. Default: 20 s. */
  readonly settlementWaitMs?: number;
  /**
   * The terms on which a payment with a copyable pass needs its payer's confirmation; `null` for
   * never.
   */
  readonly staticPass: StaticPassTerms | null;
  /**
   * The networks on which the operator pays the gas of transfers; `null` for a sandbox's own
   * chains.
   */
  readonly gaslessTransfers: readonly ChainNetwork[] | null;
  /** Hourly limits of transfers whose gas the operator pays: per IP address, and in total. */
  readonly gaslessLimits: { readonly perAddress: number; readonly perHour: number };
  readonly gas: GasPolicy;
  /** The most requests to nodes for the movements of one wallet, per UTC day. */
  readonly walletReadsPerDay: number;
  /** Where payers of live mode can get USDC; `null` if the operator names no such page. */
  readonly walletTopUpUrl: string | null;
  /** The key for browser push subscriptions; `null` if push notifications are off. */
  readonly push: { readonly publicKey: Buffer } | null;
}

interface Outside {
  /** Asks the chain whether a payment would succeed. */
  readonly preflight: Preflight;
  readonly askHome: AskHome;
  /** The addresses that webhooks may be sent to. */
  readonly webhooks: Network;
  /** The addresses that browsers may name as push endpoints. */
  readonly push: Network;
  /** Returns the URL of a network's node that browsers may call; `null` if there is none. */
  readonly publicNode: (network: ChainNetwork) => string | null;
  readonly passFiles: PassFiles;
  /** The chains and domains that are allowed in a wallet's sign-in message. */
  readonly signIn: {
    readonly chains: readonly { readonly chainId: number; readonly livemode: boolean }[];
    /** True if a domain (host with port) belongs to this service. */
    readonly isOwnDomain: (domain: string) => boolean;
  };
}

interface DemoPasses {
  /** The pass that test helpers tap by default; `null` if there is no demo data. */
  readonly defaultPass: string | null;
  /**
   * Names and values of the passes that terminals in test mode offer; `null` if there is no demo
   * data.
   */
  readonly testPasses: Readonly<Record<string, string>> | null;
  /** Returns the wallet of a demo pass in test mode; `null` if there is none. */
  signerOf?(pass: string): LocalAccount | null;
}
