import type { TransferLimits } from '#apis/payer/transfer-limits.ts';
import type { Clock } from '#core/clock.ts';
import type { IdKey } from '#core/ids.ts';
import type { Network as ChainNetwork } from '#core/mode.ts';
import type { RotatingKey } from '#core/secrets.ts';
import type { Database } from '#db/database.ts';
import type { WaitingRoom } from '#db/waiting-room.ts';
import type { Wakeups } from '#db/wakeups.ts';
import type { PassFiles } from '#payers/pass-files.ts';
import type { PayerRequestRow } from '#payers/request-queries.ts';
import type { SignInDeps } from '#payers/sign-in.ts';
import type { PaymentIntent } from '#payments/payment-intent.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { Readiness } from '#settlement/readiness.ts';
import type { Network } from '#webhooks/transport.ts';

/** The dependencies of the payer app's routes. */
export interface PayerDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly chains: readonly Chain[];
  readonly config: {
    readonly production: boolean;
    readonly isSandbox: boolean;
    /**
     * The networks on which the operator pays the gas of transfers; `null` for a sandbox’s own
     * chains.
     */
    readonly gaslessTransfers: readonly ChainNetwork[] | null;
    readonly gaslessLimits: TransferLimits;
    /** `null` for a chain of the sandbox itself. */
    readonly chains: Readonly<Record<ChainNetwork, object | null>>;
  };
  readonly readiness: Readiness;
  readonly settleWithinS: number;
  readonly cursorKey: Buffer;
  readonly idKey: IdKey;
  readonly receipts: ReceiptPages;
  /** Encrypts the keys of cards. */
  readonly cardKey: RotatingKey;
  /** Creates pass files for phone wallets. */
  readonly passFiles: PassFiles;
  /** The key for browser push subscriptions; `null` if no notifications are sent. */
  readonly push: { readonly publicKey: Buffer } | null;
  /** The addresses that browsers may name as push endpoints. */
  readonly network: Network;
  /** The public origin of the web apps, without a trailing slash. */
  readonly webUrl: () => string;
  readonly signIn: SignInDeps;
  /** Long-poll registry of requests that wait for an intent to change. */
  readonly intents: WaitingRoom<PaymentIntent>;
  /** Long-poll registry of payers who wait for something to confirm: keyed by payer. */
  readonly confirmations: WaitingRoom<readonly PaymentIntent[]>;
  /** Long-poll registry of payers who wait for the result of a job on the chain. */
  readonly requests: WaitingRoom<PayerRequestRow>;
}
