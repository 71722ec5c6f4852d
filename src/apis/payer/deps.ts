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

/** What the routes of the payer app need. */
export interface PayerDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly chains: readonly Chain[];
  readonly config: {
    readonly production: boolean;
    readonly isSandbox: boolean;
    /** Where the operator pays the gas of what wallets send out; null: on a sandbox’s own. */
    readonly gaslessTransfers: readonly ChainNetwork[] | null;
    readonly gaslessLimits: TransferLimits;
    /** null: a chain of the sandbox itself. */
    readonly chains: Readonly<Record<ChainNetwork, object | null>>;
  };
  readonly readiness: Readiness;
  readonly settleWithinS: number;
  readonly cursorKey: Buffer;
  readonly idKey: IdKey;
  readonly receipts: ReceiptPages;
  /** Seals the keys of cards. */
  readonly cardKey: RotatingKey;
  /** Makes passes for the wallets of phones. */
  readonly passFiles: PassFiles;
  /** What browsers subscribe with; null: no notifications are sent. */
  readonly push: { readonly publicKey: Buffer } | null;
  /** Which addresses browsers may name for their rings. */
  readonly network: Network;
  /** Where people reach the web apps, without a slash at its end. */
  readonly webUrl: () => string;
  readonly signIn: SignInDeps;
  /** Where requests wait for an intent to change. */
  readonly intents: WaitingRoom<PaymentIntent>;
  /** Where payers wait for something to confirm: keyed by payer. */
  readonly confirmations: WaitingRoom<readonly PaymentIntent[]>;
  /** Where payers wait for what they have asked of the chain. */
  readonly requests: WaitingRoom<PayerRequestRow>;
}
