import { assertNever } from '#core/assert.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import type { Refund } from '#refunds/refund.ts';
import type { UnsettledReason } from '#settlement/network-readiness.ts';

/** The console has a text for each code. */
export const FINDINGS = [
  'account_disabled',
  'declined',
  'terminal_inactive',
  'terminal_silent',
  'not_picked_up',
  'waits_for_tap',
  'waits_for_customer',
  'network_no_worker',
  'network_no_gas',
  'network_no_node',
  'network_clock',
  'network_recovering',
  'network_paused',
  'network_ceiling',
  'waits_to_be_signed',
  'waits_for_block',
  'waits_for_certainty',
  'waits_to_be_booked',
  'paid',
  'expired',
  'canceled_by_merchant',
  'canceled_after_loss',
  'nobody_listens',
  'endpoint_disabled',
  'not_delivered_yet',
  'delivery_fails',
  'delivery_given_up',
  'delivered',
  'refund_waits',
  'refund_blocked',
  'refunded',
  'refund_failed',
] as const;

export type FindingCode = (typeof FINDINGS)[number];

export interface Finding {
  readonly code: FindingCode;
  readonly since: Date | null;
  /** An ID, a code or another party's words, as they are stored. */
  readonly about: string | null;
}

/** The facts about the last settlement attempt from which findings are derived. */
export interface AttemptFacts {
  readonly status: 'queued' | 'submitted' | 'succeeded' | 'failed';
  readonly decided_at: Date;
  readonly signed_at: Date | null;
  readonly included_at: Date | null;
  readonly waits_for: string | null;
  readonly applied_at: Date | null;
}

export interface DeliveryFacts {
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly attempt: number;
  readonly response_status: number | null;
  readonly updated: Date;
}

export interface SupportFacts {
  readonly intent: PaymentIntent;
  readonly settledAt: Date | null;
  readonly attempt: AttemptFacts | null;
  /** The reasons why the network settles nothing now; empty if it settles payments. */
  readonly reasons: readonly UnsettledReason[];
  readonly accountStatus: 'active' | 'disabled';
  readonly terminal: { readonly status: 'active' | 'inactive'; readonly lastSeen: Date | null };
  readonly endpoints: readonly { readonly status: 'enabled' | 'disabled' }[];
  readonly deliveries: readonly DeliveryFacts[];
  readonly refunds: readonly Refund[];
  /**
   * Refunds that the token or the contract holds up, by refund ID: since when, and which of the
   * two.
   */
  readonly blocked: ReadonlyMap<string, { readonly since: Date; readonly by: string }>;
  readonly now: Date;
}

/** A till without a request in this time counts as offline. Tills poll at least twice a minute. */
const SILENT_MS = 120_000;

function finding(code: FindingCode, since: Date | null = null, about: string | null = null) {
  return { code, since, about };
}

function declineOf({ intent }: SupportFacts): Finding[] {
  const error = intent.last_payment_error;
  if (error === null || intent.status === 'succeeded') return [];
  return [finding('declined', new Date(error.created), error.decline_code)];
}

/** Returns the reason why an open intent has not been tapped yet. */
function openFindings({ intent, terminal, now }: SupportFacts): Finding[] {
  if (terminal.status === 'inactive') return [finding('terminal_inactive')];
  const { lastSeen } = terminal;
  if (lastSeen === null || now.getTime() - lastSeen.getTime() > SILENT_MS) {
    return [finding('terminal_silent', lastSeen)];
  }
  if (intent.picked_up_at === null) return [finding('not_picked_up', intent.created)];
  return [finding('waits_for_tap', intent.picked_up_at)];
}

function processingFindings({ attempt, reasons }: SupportFacts): Finding[] {
  if (attempt === null) return [];
  const { status, decided_at: decided, signed_at: signed, included_at: included } = attempt;
  const why = reasons.map((reason) => finding(`network_${reason}`, decided));
  switch (status) {
    case 'queued':
      return why.length > 0 ? why : [finding('waits_to_be_signed', decided)];
    case 'submitted':
      if (attempt.waits_for !== null) {
        return [finding('waits_for_certainty', included, attempt.waits_for)];
      }
      return [...why, finding('waits_for_block', signed)];
    case 'succeeded':
    case 'failed':
      return [...why, finding('waits_to_be_booked', decided)];
    default:
      return assertNever(status);
  }
}

function canceledFinding(intent: PaymentIntent & { readonly status: 'canceled' }): Finding {
  const { cancellation_reason: reason, canceled_at: at } = intent;
  if (reason === 'expired') return finding('expired', at);
  if (reason === 'recovered') return finding('canceled_after_loss', at);
  return finding('canceled_by_merchant', at);
}

function deliveryCode({ status, attempt }: DeliveryFacts): FindingCode {
  if (status === 'succeeded') return 'delivered';
  if (status === 'failed') return 'delivery_given_up';
  return attempt === 0 ? 'not_delivered_yet' : 'delivery_fails';
}

/**
 * Returns findings about webhooks: one per problem, even if several events of the payment have the
 * problem.
 */
function deliveryFindings({ endpoints, deliveries }: SupportFacts): Finding[] {
  if (deliveries.length === 0) {
    const isOff = endpoints.length > 0 && endpoints.every(({ status }) => status === 'disabled');
    return [finding(isOff ? 'endpoint_disabled' : 'nobody_listens')];
  }
  const byCode = Map.groupBy(deliveries, deliveryCode);
  const wrong = (['delivery_given_up', 'delivery_fails', 'not_delivered_yet'] as const).flatMap(
    (code) => {
      const those = byCode.get(code) ?? [];
      const last = those.at(-1);
      if (last === undefined) return [];
      const { response_status: answer, updated } = last;
      const said = answer === null ? 'no answer' : `HTTP ${answer}`;
      return [finding(code, updated, `${those.length} of ${deliveries.length}, ${said}`)];
    },
  );
  return wrong.length > 0 ? wrong : [finding('delivered', deliveries.at(-1)?.updated ?? null)];
}

function refundFinding(refund: Refund, { blocked }: SupportFacts): Finding {
  const { id, created, updated, status } = refund;
  switch (status) {
    case 'pending': {
      const held = blocked.get(id);
      if (held === undefined) return finding('refund_waits', created, id);
      return finding('refund_blocked', held.since, held.by);
    }
    case 'succeeded':
      return finding('refunded', updated, id);
    case 'failed':
      return finding('refund_failed', updated, refund.failure_code);
    default:
      return assertNever(status);
  }
}

function stateFindings(facts: SupportFacts): Finding[] {
  const { intent } = facts;
  switch (intent.status) {
    case 'requires_payment_method':
      return openFindings(facts);
    case 'requires_action':
      return [finding('waits_for_customer', intent.tapped_at)];
    case 'processing':
      return processingFindings(facts);
    case 'succeeded':
      return [finding('paid', facts.settledAt, intent.tx_hash), ...deliveryFindings(facts)];
    case 'canceled':
      return [canceledFinding(intent)];
    default:
      return assertNever(intent);
  }
}

/**
 * Returns a payment's state and the reasons for it, in the order in which support would explain
 * them.
 */
export function findingsOf(facts: SupportFacts): Finding[] {
  return [
    ...(facts.accountStatus === 'disabled' ? [finding('account_disabled')] : []),
    ...declineOf(facts),
    ...stateFindings(facts),
    ...facts.refunds.map((refund) => refundFinding(refund, facts)),
  ];
}
