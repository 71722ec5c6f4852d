import { pushNetwork } from '#app/api-shared.ts';
import type { AnchorTarget } from '#audit/anchor-target.ts';
import type { CellSettings } from '#cells/peers.ts';
import { startSendingEnds } from '#cells/send-ends.ts';
import type { IdKey } from '#core/ids.ts';
import { describeError } from '#core/log.ts';
import { type Loop, startLoop } from '#core/loop.ts';
import type { RotatingKey } from '#core/secrets.ts';
import type { LoopDeps } from '#db/loop-deps.ts';
import { startSigning } from '#fiscal/sign-receipts.ts';
import { dropExpiredKeys } from '#idempotency/expire-keys.ts';
import { anchorAuditLog } from '#ops/audit-anchors.ts';
import { applyPayerRequests } from '#payers/apply-requests.ts';
import { notifyWallets } from '#payers/notify-wallets.ts';
import { PASS_COPIES } from '#payers/pass-copy-queries.ts';
import type { PassFiles } from '#payers/pass-files.ts';
import { expireIntents } from '#payments/expire.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import { applySettlements } from '#payments/settle.ts';
import { traceOfEvent } from '#payments/trace-of-event.ts';
import { applyRegistrations } from '#payouts/apply-registrations.ts';
import { applyDueWallets, applyWalletOutcomes } from '#payouts/apply-wallet-changes.ts';
import { applyWithdrawalOutcomes } from '#payouts/apply-withdrawals.ts';
import { followAllWallets } from '#payouts/follow-wallets.ts';
import { mailProposal } from '#payouts/foreign-mails.ts';
import { dropExpired } from '#people/drop-expired.ts';
import { notifyOwners } from '#people/endpoint-mail.ts';
import { type Mailer, startMailWorker } from '#people/mail.ts';
import type { RateSettings } from '#prices/rate-settings.ts';
import { createRateRefresher, refreshIntervals } from '#prices/refresh-rates.ts';
import { notifyPayers } from '#push/notify-payers.ts';
import type { VapidKeys } from '#push/vapid.ts';
import { startRecovery } from '#recovery/recover.ts';
import { applyRefundOutcomes } from '#refunds/apply-outcomes.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { startReconciler } from '#settlement/reconciliation/reconciler.ts';
import { startRelayer } from '#settlement/relayer/relayer.ts';
import type { RequestKind } from '#settlement/requests.ts';
import { addressPolicy } from '#webhooks/address-check.ts';
import { systemResolver } from '#webhooks/resolver.ts';
import { startWebhookWorker } from '#webhooks/worker.ts';

export interface WorkerDeps extends LoopDeps {
  readonly chains: readonly Chain[];
  /** Restores the ids of rebuilt objects. */
  readonly idKey: IdKey;
  readonly receipts: ReceiptPages;
  /** Decrypts webhook signing secrets. */
  readonly webhookKey: Buffer;
  readonly webhookAllowCidrs: readonly string[];
  readonly isSandbox: boolean;
  /** Decrypts queued mails. */
  readonly peopleKey: Buffer;
  readonly mailer: Mailer;
  /** The address in mailed links. */
  readonly webUrl: string;
  /** `null` if no notifications are sent. */
  readonly push: VapidKeys | null;
  /** The cells that are notified of ended passes. */
  readonly cells: CellSettings;
  /** Decrypts the values of pass copies. */
  readonly cardKey: RotatingKey;
  /** The phone wallets that are notified of passes. */
  readonly passFiles: PassFiles;
  /** The feeds of exchange rates. */
  readonly rates: RateSettings;
  /** The destination of the audit log's heads. */
  readonly anchorTarget: AnchorTarget;
}

/** The parts from which mails about wallets are built. */
interface WalletMails {
  readonly people: { readonly secretKey: Buffer; readonly webUrl: string };
}

/** The maximum delay of a result after a lost hint. */
const OUTCOME_POLL_MS = 500;
/** The maximum delay with which an expiry is written; readers see it in time anyway. */
const EXPIRY_POLL_MS = 500;
/** The maximum delay of a notification after a lost hint; the payer has a minute. */
const RING_POLL_MS = 3_000;
/** The maximum delay of a phone's pass after a lost hint; tills know at once. */
const COPIES_POLL_MS = 5_000;
/** Poll interval for wallets, which have already waited for days. */
const WALLET_POLL_MS = 10_000;
/** Poll interval for expired idempotency keys, which only take space. */
const KEY_EXPIRY_POLL_MS = 60_000;
/** Poll interval for anchors, of which there is one a day. */
const ANCHOR_POLL_MS = 60_000;

/** Starts the loops that record the effects of time and the chains' results. */
function startLoops(deps: WorkerDeps & WalletMails): Loop[] {
  const onError = (name: string, error: unknown) =>
    deps.log.error(`the ${name} failed`, { error: describeError(error) });
  const onOutcomes = (kind: RequestKind, name: string, run: () => Promise<boolean>) => {
    const loop = startLoop({ name, pollMs: OUTCOME_POLL_MS, run, onError });
    deps.wakeups.on('chain-outcomes', kind, loop.wake);
    return loop;
  };
  const every = (pollMs: number, name: string, run: () => Promise<boolean>) =>
    startLoop({ name, pollMs, run, onError });
  return [
    onOutcomes('payment', 'settlement outcomes', () => applySettlements(deps)),
    onOutcomes('refund', 'refund outcomes', () => applyRefundOutcomes(deps)),
    onOutcomes('withdrawal', 'withdrawal outcomes', () => applyWithdrawalOutcomes(deps)),
    onOutcomes('wallet_change', 'wallet outcomes', () => applyWalletOutcomes(deps)),
    every(WALLET_POLL_MS, 'activation of wallets', () => applyDueWallets(deps)),
    onOutcomes('merchant_registration', 'registration outcomes', () => applyRegistrations(deps)),
    onOutcomes('enrolment', 'approval outcomes', () => applyPayerRequests(deps, 'enrolment')),
    onOutcomes('faucet', 'test fund outcomes', () => applyPayerRequests(deps, 'faucet')),
    onOutcomes('transfer', 'transfer outcomes', () => applyPayerRequests(deps, 'transfer')),
    every(EXPIRY_POLL_MS, 'expiry of intents', () => expireIntents(deps)),
    every(KEY_EXPIRY_POLL_MS, 'expiry of idempotency keys', () => dropExpiredKeys(deps)),
    every(refreshIntervals(deps.rates).pollMs, 'exchange rates', createRateRefresher(deps)),
    every(ANCHOR_POLL_MS, 'anchor of the audit log', () => anchorAuditLog(deps)),
    every(KEY_EXPIRY_POLL_MS, 'expiry of sessions and links', () => dropExpired(deps)),
  ];
}

/** Notifies browsers of payers whose confirmation is needed, if the operator has set it up. */
function startRinging({ push, ...deps }: WorkerDeps) {
  if (push === null) return [];
  const network = pushNetwork(deps);
  const loop = startLoop({
    name: 'payer notifications',
    pollMs: RING_POLL_MS,
    run: () => notifyPayers({ ...deps, keys: push, network, insertAlarms }),
    onError: (name, error) => deps.log.error(`the ${name} failed`, { error: describeError(error) }),
  });
  deps.wakeups.on('push', '', loop.wake);
  return [loop];
}

/** Notifies phone wallets of changes, if the operator has credentials for one. */
function startNotifyingWallets(deps: WorkerDeps) {
  const { apple, google } = deps.passFiles;
  if (apple === null && google === null) return [];
  const loop = startLoop({
    name: 'wallet pass updates',
    pollMs: COPIES_POLL_MS,
    run: () => notifyWallets(deps),
    onError: (name, error) => deps.log.error(`the ${name} failed`, { error: describeError(error) }),
  });
  deps.wakeups.on(PASS_COPIES, '', loop.wake);
  return [loop];
}

/** Sends transactions with the registrar's key, and does nothing else of a worker. */
export function startRegistrar(
  deps: Pick<WorkerDeps, 'db' | 'wakeups' | 'clock' | 'log' | 'chains'>,
) {
  const relayers = deps.chains.map((chain) => startRelayer({ ...deps, chain }));
  return {
    stop: async () => {
      await Promise.all(relayers.map((relayer) => relayer.stop()));
    },
  };
}

/** Starts all background work. Any number of processes may run it at once. */
export function startWorkers(settings: WorkerDeps): { stop(): Promise<void> } {
  const people = { secretKey: settings.peopleKey, webUrl: settings.webUrl };
  const deps = { ...settings, people };
  const relayers = deps.chains.map((chain) => startRelayer({ ...deps, chain }));
  const recoveries = deps.chains.map((chain) => startRecovery({ ...deps, chain }));
  const notifyMerchant = mailProposal(people);
  const reconcilers = deps.chains.map((chain) => {
    const followWallets = () => followAllWallets({ ...deps, chain });
    return startReconciler({ ...deps, chain, notifyMerchant, followWallets });
  });
  const webhooks = startWebhookWorker({
    ...deps,
    secretKey: deps.webhookKey,
    allowCidrs: deps.webhookAllowCidrs,
    ownMachine: deps.isSandbox,
    traceOf: (body) => traceOfEvent(deps.db, body),
    notifyDisabled: notifyOwners(deps.peopleKey),
  });
  const loops = [
    ...startLoops(deps),
    ...startRinging(deps),
    ...startNotifyingWallets(deps),
    ...(deps.cells.others.length === 0 ? [] : [startSendingEnds(deps)]),
  ];
  const signing = startSigning({
    ...deps,
    network: {
      policy: addressPolicy(deps.webhookAllowCidrs, { ownMachine: deps.isSandbox }),
      resolver: systemResolver(),
    },
  });
  const mails = startMailWorker({ ...deps, secretKey: deps.peopleKey });
  return {
    stop: async () => {
      await Promise.all([
        ...relayers.map((relayer) => relayer.stop()),
        ...recoveries.map((recovery) => recovery.stop()),
        ...reconcilers.map((reconciler) => reconciler.stop()),
        webhooks.stop(),
        mails.stop(),
        signing.stop(),
        ...loops.map((loop) => loop.stop()),
      ]);
    },
  };
}
