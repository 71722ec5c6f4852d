import path from 'node:path';
import { pushNetwork } from '#app/api-dependencies.ts';
import type { AnchorTarget } from '#audit/anchor-target.ts';
import { announceExports } from '#books/export-schedule.ts';
import { startSendingEnds } from '#cells/send-revocations.ts';
import { type Loop, startLoop } from '#core/background-loop.ts';
import { startSigning } from '#fiscal/sign-receipts.ts';
import { dropExpiredKeys } from '#idempotency/expire-keys.ts';
import { describeError, type Log } from '#observability/log.ts';
import { anchorAuditLog } from '#ops/audit-anchors.ts';
import { applyPayerRequests } from '#payers/apply-payer-results.ts';
import { notifyWallets } from '#payers/notify-wallets.ts';
import { PASS_COPIES } from '#payers/pass-copy-queries.ts';
import type { PassFiles } from '#payers/pass-files.ts';
import { applyDeployments } from '#payments/apply-deployments.ts';
import {
  applySettlements,
  declineOverdue,
  type ResultContext,
} from '#payments/apply-settlements.ts';
import { fillTaxes } from '#payments/fill-taxes.ts';
import { OFFLINE_WAKEUP } from '#payments/offline/offline-queries.ts';
import { retryOffline } from '#payments/offline/retry-offline.ts';
import { expireIntents } from '#payments/store-expired-intents.ts';
import { traceOfEvent } from '#payments/trace-of-event.ts';
import { applyRegistrations } from '#payouts/apply-registrations.ts';
import { applyDueWallets, applyWalletOutcomes } from '#payouts/apply-wallet-changes.ts';
import { applyWithdrawalOutcomes } from '#payouts/apply-withdrawals.ts';
import { payOutPeriods } from '#payouts/automatic-payout.ts';
import { followAllWallets, mailingOf } from '#payouts/follow-wallets.ts';
import { mailProposal } from '#payouts/foreign-wallet-mails.ts';
import { dropExpired } from '#people/delete-expired.ts';
import { notifyOwners } from '#people/endpoint-mail.ts';
import { fileMailer, type Mailer, smtpMailer, startMailWorker } from '#people/mail-outbox.ts';
import { mailSettingChanges } from '#people/setting-mails.ts';
import { createRateRefresher, refreshIntervals } from '#prices/refresh-rates.ts';
import { notifyPayers } from '#push/notify-payers.ts';
import { startRecovery } from '#recovery/recover.ts';
import { applyRefundOutcomes } from '#refunds/apply-refund-results.ts';
import type { DataFolder } from '#sandbox/data-folder.ts';
import type { Config } from '#settings/config.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';
import type { RequestKind } from '#settlement/chain-requests.ts';
import { startReconciler } from '#settlement/reconciliation/reconcile-every-minute.ts';
import { startRelayer } from '#settlement/relayer/relayer.ts';
import { startWebhookWorker } from '#webhooks/delivery-loops.ts';
import { systemResolver } from '#webhooks/dns-resolver.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';

/** Each loop takes the fields that it needs. */
export interface WorkerContext extends ChainContext {
  readonly config: Config;
  readonly mailer: Mailer;
  readonly passFiles: PassFiles;
  readonly anchorTarget: AnchorTarget;
}

/** Maximum delay of a result if its notification was lost. */
const OUTCOME_POLL_MS = 500;
/** Maximum delay before an expiry is stored. Readers see the expiry on time anyway. */
const EXPIRY_POLL_MS = 500;
/** Maximum delay of a push notification if its wake-up was lost; the payer has a minute. */
const RING_POLL_MS = 3_000;
/** Maximum delay of a change to a phone's pass if its wake-up was lost; tills know immediately. */
const COPIES_POLL_MS = 5_000;
/** Poll interval for due wallet changes. They have waited for days, so seconds do not matter. */
const WALLET_POLL_MS = 10_000;
/** Maximum delay, after a lost wake-up, of an offline sale that needs another settlement job. */
const OFFLINE_POLL_MS = 2_000;
/** Poll interval for expired idempotency keys, which merely take up space. */
const KEY_EXPIRY_POLL_MS = 60_000;
/** Poll interval for ends of days: developers who advance a test clock are waiting for it. */
const PERIOD_POLL_MS = 1_000;
/** Poll interval for changed settings: their owners learn of a thief's change within seconds. */
const SETTINGS_POLL_MS = 2_000;
/**
 * Poll interval for payments without their tax tables, which only processes of an earlier release
 * still book.
 */
const FILL_POLL_MS = 60_000;
/** Poll interval for the audit log's anchors, which are sent once a day. */
const ANCHOR_POLL_MS = 60_000;

/** Starts a loop that logs its errors. */
function poll(log: Log, pollMs: number, name: string, run: () => Promise<boolean>): Loop {
  const onError = (_: string, error: unknown) =>
    log.error(`the ${name} failed`, { error: describeError(error) });
  return startLoop({ name, pollMs, run, onError });
}

function startLoops(ctx: WorkerContext): Loop[] {
  const every = (pollMs: number, name: string, run: () => Promise<boolean>) =>
    poll(ctx.log, pollMs, name, run);
  const onOutcomes = (kind: RequestKind, name: string, run: () => Promise<boolean>) => {
    const loop = every(OUTCOME_POLL_MS, name, run);
    ctx.wakeups.on('chain-outcomes', kind, loop.wake);
    return loop;
  };
  const { rates } = ctx.config;
  const offline = every(OFFLINE_POLL_MS, 'retries of offline sales', () =>
    retryOffline({ ...ctx, settings: ctx.config }),
  );
  ctx.wakeups.on(OFFLINE_WAKEUP, '', offline.wake);
  return [
    offline,
    onOutcomes('payment', 'settlement outcomes', () => applySettlements(ctx)),
    onOutcomes('refund', 'refund outcomes', () => applyRefundOutcomes(ctx)),
    onOutcomes('withdrawal', 'withdrawal outcomes', () => applyWithdrawalOutcomes(ctx)),
    onOutcomes('wallet_change', 'wallet outcomes', () => applyWalletOutcomes(ctx)),
    every(WALLET_POLL_MS, 'activation of wallets', () => applyDueWallets(ctx)),
    onOutcomes('merchant_registration', 'registration outcomes', () => applyRegistrations(ctx)),
    onOutcomes('enrolment', 'approval outcomes', () => applyPayerRequests(ctx, 'enrolment')),
    onOutcomes('faucet', 'test fund outcomes', () => applyPayerRequests(ctx, 'faucet')),
    onOutcomes('transfer', 'transfer outcomes', () => applyPayerRequests(ctx, 'transfer')),
    onOutcomes('wallet_deployment', 'deployment outcomes', () => applyDeployments(ctx)),
    every(EXPIRY_POLL_MS, 'expiry of intents', () => expireIntents(ctx)),
    every(KEY_EXPIRY_POLL_MS, 'expiry of idempotency keys', () => dropExpiredKeys(ctx)),
    every(
      refreshIntervals(rates).pollMs,
      'exchange rates',
      createRateRefresher({ ...ctx, insertAlarms }, rates),
    ),
    every(PERIOD_POLL_MS, 'automatic payouts', () => payOutPeriods(ctx, ctx.keys.id)),
    every(PERIOD_POLL_MS, 'scheduled exports', () => announceExports(ctx, mailingOf(ctx))),
    every(SETTINGS_POLL_MS, 'mails about settings', () => mailSettingChanges(ctx, mailingOf(ctx))),
    every(FILL_POLL_MS, 'filling of tax tables', () => fillTaxes(ctx)),
    every(ANCHOR_POLL_MS, 'anchor of the audit log', () => anchorAuditLog(ctx, ctx)),
    every(KEY_EXPIRY_POLL_MS, 'expiry of sessions and links', () => dropExpired(ctx)),
  ];
}

/**
 * Sends push notifications to payers whose confirmation is needed, if the operator has configured
 * push.
 */
function startRinging(ctx: WorkerContext) {
  const { push } = ctx.config;
  if (push === null) return [];
  const by = { keys: push, network: pushNetwork(ctx.config), insertAlarms };
  const loop = poll(ctx.log, RING_POLL_MS, 'payer notifications', () => notifyPayers(ctx, by));
  ctx.wakeups.on('push', '', loop.wake);
  return [loop];
}

/** Notifies phone wallets of changed passes, if the operator has credentials for such a wallet. */
function startNotifyingWallets(ctx: WorkerContext) {
  const { passFiles, keys, pages } = ctx;
  if (passFiles.apple === null && passFiles.google === null) return [];
  const loop = poll(ctx.log, COPIES_POLL_MS, 'wallet pass updates', () =>
    notifyWallets(ctx, { passFiles, cardKey: keys.card, webUrl: pages.webUrl() }),
  );
  ctx.wakeups.on(PASS_COPIES, '', loop.wake);
  return [loop];
}

/** Starts the background work of this process's roles. */
export function startWorkOfRoles(
  ctx: Omit<WorkerContext, 'mailer' | 'anchorTarget'>,
  folder: DataFolder,
): { stop(): Promise<void> } {
  const { config } = ctx;
  if (config.roles.has('worker')) {
    const mailer = mailerOf(config, folder);
    return startWorkers({ ...ctx, mailer, anchorTarget: anchorTargetOf(config, folder) });
  }
  // The role `registrar` sends transactions with its key, and does no other work of a worker.
  const relayers = config.roles.has('registrar') ? startRelayers(ctx) : [];
  return { stop: () => stopAll(relayers) };
}

async function stopAll(running: readonly { stop(): Promise<void> }[]): Promise<void> {
  await Promise.all(running.map((one) => one.stop()));
}

function startRelayers(ctx: ChainContext) {
  return ctx.chains.map((chain) => startRelayer({ ...ctx, chain }));
}

/** Returns the mailer. Without a mail server, mails become files in the data folder. */
function mailerOf({ smtpUrl, mailFrom }: Config, folder: DataFolder): Mailer {
  if (smtpUrl === null) return fileMailer(path.join(folder.path, 'mail'));
  return smtpMailer({ url: smtpUrl, from: mailFrom });
}

function anchorTargetOf({ auditAnchors, smtpUrl }: Config, folder: DataFolder): AnchorTarget {
  if (auditAnchors !== null) return auditAnchors;
  if (smtpUrl !== null) return { to: 'operators' };
  return { to: 'file', path: path.join(folder.path, 'audit-anchors.jsonl') };
}

/** Starts all background work. Any number of processes may run it concurrently. */
function startWorkers(ctx: WorkerContext): { stop(): Promise<void> } {
  const { config, keys, mailer } = ctx;
  const relayers = startRelayers(ctx);
  const recoveries = ctx.chains.map((chain) => startRecovery({ ...ctx, chain }));
  const notifyMerchant = mailProposal(mailingOf(ctx));
  const reconcilers = ctx.chains.map((chain) =>
    startReconciler(ctx, { ...ctx, chain, notifyMerchant }, () => followAllWallets(ctx, chain)),
  );
  const webhooks = startWebhookWorker({
    ...ctx,
    secretKey: keys.webhook,
    allowCidrs: config.webhookAllowCidrs,
    ownMachine: config.isSandbox,
    traceOf: (body) => traceOfEvent(ctx.db, body),
    notifyDisabled: notifyOwners(keys.people),
  });
  const loops = [
    ...startLoops(ctx),
    ...startRinging(ctx),
    ...startNotifyingWallets(ctx),
    ...(config.cells.others.length === 0 ? [] : [startSendingEnds(ctx, config.cells)]),
  ];
  const signing = startSigning(ctx, {
    policy: addressPolicy(config.webhookAllowCidrs, { ownMachine: config.isSandbox }),
    resolver: systemResolver(),
  });
  const mails = startMailWorker({ ...ctx, secretKey: keys.people, mailer });
  const all = [...relayers, ...recoveries, ...reconcilers, webhooks, mails, signing, ...loops];
  return { stop: () => stopAll(all) };
}

/** Maximum delay before an overdue unsigned payment is declined. */
const OVERDUE_POLL_MS = 1_000;

/**
 * Declines overdue payments. Runs in processes of every role, because it matters most while no
 * worker is running.
 */
export function startDeclining(ctx: ResultContext): Loop {
  return poll(ctx.log, OVERDUE_POLL_MS, 'decline of overdue payments', () => declineOverdue(ctx));
}
