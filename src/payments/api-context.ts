import type { LocalAccount } from 'viem/accounts';
import type { Network as ChainNetwork } from '#core/mode.ts';
import type { PassFiles } from '#payers/pass-files.ts';
import type { AskHome, Preflight } from '#payments/pay-request.ts';
import type { PeopleDeps } from '#people/people.ts';
import type { Realm } from '#people/user-queries.ts';
import type { StaticPassTerms } from '#risk/risk-rules.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';
import type { Readiness } from '#settlement/readiness.ts';
import type { Network } from '#webhooks/transport.ts';

/**
 * The context of a process of the role `api`. Routes pass it to use cases, and use cases pass
 * single fields to the functions below. There is one object per process, created in
 * `src/app/api-context.ts` and never copied, because {@link perProcess} keeps batchers by its
 * identity.
 */
export interface ApiContext extends ChainContext {
  /** The networks that settle now. */
  readonly readiness: Readiness;
  readonly settings: ApiSettings;
  /** Dependencies of the use cases for people and their sessions, by realm. */
  readonly people: Readonly<Record<Realm, PeopleDeps>>;
  readonly outside: Outside;
  readonly demo: DemoPasses;
}

/** The settings that routes and use cases read. */
interface ApiSettings {
  readonly production: boolean;
  readonly isSandbox: boolean;
  /** Settings of each network's chain; `null` for a sandbox's own chain. */
  readonly chains: Readonly<Record<ChainNetwork, object | null>>;
  /** Seconds from a tap, or its payer's approval, within which a payment must be in a block. */
  readonly settleWithinS: number;
  /** The time for which a response waits for a settlement, in milliseconds. Default: 20 s. */
  readonly settlementWaitMs?: number;
  /** The terms on which a pass that can be copied needs its payer's confirmation. */
  readonly staticPass: StaticPassTerms | null;
  /** The networks where the operator pays the gas of transfers; `null` for a sandbox's own. */
  readonly gaslessTransfers: readonly ChainNetwork[] | null;
  /** The limits of such transfers per hour: per IP address, and in total. */
  readonly gaslessLimits: { readonly perAddress: number; readonly perHour: number };
  /** The most gas that deployments of payers' wallets may use, per day and network. */
  readonly walletDeploymentGas: number;
  /** The key for browser push subscriptions; `null` if no notifications are sent. */
  readonly push: { readonly publicKey: Buffer } | null;
}

/** Access to systems outside of the process. */
interface Outside {
  /** Queries the chain whether a payment would succeed. */
  readonly preflight: Preflight;
  /** Asks another cell about its credential. */
  readonly askHome: AskHome;
  /** The addresses that webhooks may be sent to. */
  readonly webhooks: Network;
  /** The addresses that browsers may name as push endpoints. */
  readonly push: Network;
  /** The node of each network that browsers may call. */
  readonly publicNode: (network: ChainNetwork) => string | null;
  /** Creates pass files for phone wallets. */
  readonly passFiles: PassFiles;
  /** The chains and domains that a wallet's sign-in message may name. */
  readonly signIn: {
    readonly chains: readonly { readonly chainId: number; readonly livemode: boolean }[];
    /** True if a message for this domain (host, with its port) is for this service. */
    readonly isOwnDomain: (domain: string) => boolean;
  };
}

/** The passes of a sandbox's demo payers. */
interface DemoPasses {
  /** The pass that test helpers tap by default; `null` without demo data. */
  readonly defaultPass: string | null;
  /** The passes that terminals in test mode offer, by name; `null` without demo data. */
  readonly testPasses: Readonly<Record<string, string>> | null;
  /** Returns the wallet of a demo pass on the test network; `null` if there is none. */
  signerOf?(pass: string): LocalAccount | null;
}
