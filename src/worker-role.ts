import { applyRegistrations } from '#accounts/apply-registrations.ts';
import { applyDueWallets, applyWalletOutcomes } from '#accounts/apply-wallet-changes.ts';
import { applyWithdrawalOutcomes } from '#accounts/apply-withdrawals.ts';
import { dropExpired } from '#accounts/drop-expired.ts';
import { tellOwners } from '#accounts/endpoint-mail.ts';
import { type Mailer, startMailWorker } from '#accounts/mail.ts';
import type { Clock } from '#core/clock.ts';
import type { IdKey } from '#core/derived-ids.ts';
import { describeError, type Log } from '#core/log.ts';
import { type Loop, startLoop } from '#core/loop.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { dropExpiredKeys } from '#idempotency/expire-keys.ts';
import { type AnchorTarget, anchorAuditLog } from '#ops/audit-anchors.ts';
import { applyPayerRequests } from '#payers/apply-requests.ts';
import { expireIntents } from '#payments/expire.ts';
import { applySettlements } from '#payments/settle.ts';
import { startRecovery } from '#recovery/recover.ts';
import { applyRefundOutcomes } from '#refunds/apply-outcomes.ts';
import type { Chain } from '#settlement/chain.ts';
import { startReconciler } from '#settlement/reconciler.ts';
import { startRelayer } from '#settlement/relayer.ts';
import type { RequestKind } from '#settlement/requests.ts';
import { startWebhookWorker } from '#webhooks/worker.ts';

export interface WorkerDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly log: Log;
  readonly chains: readonly Chain[];
  /** Rebuilt objects get their ids back. */
  readonly idKey: IdKey;
  /** Opens webhook signing secrets. */
  readonly webhookKey: Buffer;
  readonly webhookAllowCidrs: readonly string[];
  /** Opens what waits to be mailed. */
  readonly peopleKey: Buffer;
  readonly mailer: Mailer;
  /** Where the heads of the audit log are written down. */
  readonly anchorTarget: AnchorTarget;
}

/** A hint that got lost delays an outcome by at most this. */
const OUTCOME_POLL_MS = 500;
/** How late an expiry is written at most; readers see it in time anyway. */
const EXPIRY_POLL_MS = 500;
/** A wallet has waited for days already. */
const WALLET_POLL_MS = 10_000;
/** Expired idempotency keys only take room. */
const KEY_EXPIRY_POLL_MS = 60_000;
/** Once a day there is something to do. */
const ANCHOR_POLL_MS = 60_000;

/** Loops that write down what time and the chains have done. */
function startLoops(deps: WorkerDeps): Loop[] {
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
    onOutcomes('wallet_change', 'wallet changes', () => applyWalletOutcomes(deps)),
    every(WALLET_POLL_MS, 'wallets that are due', () => applyDueWallets(deps)),
    onOutcomes('merchant_registration', 'registrations', () => applyRegistrations(deps)),
    onOutcomes('enrolment', 'approvals', () => applyPayerRequests(deps, 'enrolment')),
    onOutcomes('faucet', 'test funds', () => applyPayerRequests(deps, 'faucet')),
    every(EXPIRY_POLL_MS, 'expiry of intents', () => expireIntents(deps)),
    every(KEY_EXPIRY_POLL_MS, 'expiry of idempotency keys', () => dropExpiredKeys(deps)),
    every(ANCHOR_POLL_MS, 'anchor of the audit log', () => anchorAuditLog(deps)),
    every(KEY_EXPIRY_POLL_MS, 'expiry of sessions and links', () => dropExpired(deps)),
  ];
}

/** Everything that goes on without a caller. Any number of processes may do so at once. */
export function startWorkers(deps: WorkerDeps): { stop(): Promise<void> } {
  const relayers = deps.chains.map((chain) => startRelayer({ ...deps, chain }));
  const recoveries = deps.chains.map((chain) => startRecovery({ ...deps, chain }));
  const reconcilers = deps.chains.map((chain) => startReconciler({ ...deps, chain }));
  const webhooks = startWebhookWorker({
    ...deps,
    secretKey: deps.webhookKey,
    allowCidrs: deps.webhookAllowCidrs,
    tellDisabled: tellOwners(deps.peopleKey),
  });
  const loops = startLoops(deps);
  const mails = startMailWorker({ ...deps, secretKey: deps.peopleKey });
  return {
    stop: async () => {
      await Promise.all([
        ...relayers.map((relayer) => relayer.stop()),
        ...recoveries.map((recovery) => recovery.stop()),
        ...reconcilers.map((reconciler) => reconciler.stop()),
        webhooks.stop(),
        mails.stop(),
        ...loops.map((loop) => loop.stop()),
      ]);
    },
  };
}
