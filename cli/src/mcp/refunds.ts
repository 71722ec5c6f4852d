import { createHmac } from 'node:crypto';
import { formatUsdc, usdc } from 'tapline';
import { AMOUNT } from './payments.ts';
import { inputs, type Tool, type ToolDeps, ToolRefusal } from './tool.ts';

/**
 * What a refund is confirmed with: it names payment, amount, and how much was given back before, so
 * it fits this one refund. It is made from the key, and so is the same after a restart.
 */
function confirmationOf(
  { apiKey }: ToolDeps,
  {
    payment,
    amount,
    refundedBefore,
  }: { readonly payment: string; readonly amount: number; readonly refundedBefore: number },
): string {
  const words = `mcp refund ${payment} ${amount} ${refundedBefore}`;
  const digest = createHmac('sha256', apiKey).update(words).digest('hex').slice(0, 24);
  return `${amount}-${refundedBefore}-${digest}`;
}

/** First it says what it would do; with the confirmation it does it, once. */
async function refundPayment(deps: ToolDeps, given: Readonly<Record<string, string>>) {
  const { payment: id = '', amount: wanted, reason, confirmation } = given;
  if (confirmation !== undefined) return carryOut(deps, { id, reason, confirmation });
  const payment = await deps.tapline.payments.retrieve(id);
  const left = payment.amount - payment.amount_refunded;
  const amount = wanted === undefined ? left : usdc(wanted);
  if (amount < 1 || amount > left) {
    throw new ToolRefusal(`Of ${id} ${formatUsdc(left)} USDC can be given back.`);
  }
  checkLimit(deps, amount);
  const refundedBefore = payment.amount_refunded;
  return {
    status: 'needs_confirmation',
    what: `Give ${formatUsdc(amount)} USDC of payment ${id} (order ${payment.order_id}) back.`,
    next: 'Ask the person you work for. If they agree, call this again with the confirmation.',
    confirmation: confirmationOf(deps, { payment: id, amount, refundedBefore }),
  };
}

function checkLimit({ refundLimit }: ToolDeps, amount: number): void {
  if (amount <= refundLimit) return;
  throw new ToolRefusal(
    `Refunds here are at most ${formatUsdc(refundLimit)} USDC. A person can give more back in ` +
      'the dashboard, or start `tapline mcp` with a higher --refund-limit.',
  );
}

interface Confirmed {
  readonly id: string;
  readonly reason: string | undefined;
  readonly confirmation: string;
}

/** The confirmation is the key, too: however often it is sent, it is one refund. */
async function carryOut(deps: ToolDeps, { id, reason, confirmation }: Confirmed) {
  const [amount = 0, refundedBefore = 0] = confirmation.split('-').map(Number);
  if (confirmation !== confirmationOf(deps, { payment: id, amount, refundedBefore })) {
    throw new ToolRefusal('The confirmation does not fit this payment: call without it first.');
  }
  checkLimit(deps, amount);
  const body = { payment: id, amount, ...(reason === undefined ? {} : { reason }) };
  const idempotencyKey = `mcp-refund-${id}-${confirmation}`;
  const refund = await deps.tapline.refunds.create(body, { idempotencyKey });
  const { id: refundId, status, failure_code, failure_message } = refund;
  const given = `${formatUsdc(refund.amount)} USDC`;
  return { refund: refundId, amount: given, status, failure_code, failure_message };
}

export const REFUND_TOOL: Tool = {
  name: 'refund_payment',
  description:
    'Gives money of a payment back. The first call says what would happen and gives a ' +
    'confirmation; the call with that confirmation does it, once, however often it is repeated.',
  inputSchema: inputs(
    {
      payment: { type: 'string', description: 'pay_…', pattern: '^pay_[0-9A-Za-z]+$' },
      amount: { ...AMOUNT, description: `${AMOUNT.description} Default: all that is left.` },
      reason: { type: 'string', description: 'For the books.', pattern: '^.{1,500}$' },
      confirmation: { type: 'string', description: 'From the first call.', pattern: '^[\\w-]+$' },
    },
    ['payment'],
  ),
  annotations: {
    title: 'Give money back',
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false,
  },
  run: refundPayment,
};
