import { formatUsdc, type Payment, usdc } from 'tapline';
import { AMOUNT } from './payment-tools.ts';
import type { PreparedRefund } from './prepared-refunds.ts';
import { estimateLines, LINES, readLines } from './returned-lines.ts';
import {
  holds,
  inputs,
  type Person,
  TEXT,
  type Tool,
  type ToolDeps,
  ToolRefusal,
} from './tool-definition.ts';

/** The next step for the model, by the user's answer. The answer alone never refunds anything. */
const NEXT = {
  needs_a_person:
    'Show the link to the person you work for. They review the payment there and make the ' +
    'refund with their second factor. Nothing has happened yet; get_payment will show the ' +
    'refund.',
  link_opened:
    'The person was shown the link and can make the refund there with their second factor. ' +
    'If they do, get_payment shows it in amount_refunded.',
  declined: 'The person declined to open the link. Nothing was refunded. Do not ask again.',
} as const;

function statusOf({ answer }: Person): keyof typeof NEXT {
  if (answer === null) return 'needs_a_person';
  return answer === 'accept' ? 'link_opened' : 'declined';
}

/** A refund to prepare, and how its result and its link name it. */
interface Wish extends PreparedRefund {
  readonly what: string;
  /** The amount that the dialog opens with; `null` if the person chooses the lines there. */
  readonly sum: string | null;
}

function wishOf(payment: Payment, given: Readonly<Record<string, string>>): Wish {
  const { amount: wanted, line_items: named } = given;
  const left = payment.amount - payment.amount_refunded;
  if (named !== undefined) {
    if (wanted !== undefined) throw new ToolRefusal('Send line_items or amount, not both.');
    const parts = readLines(payment, named);
    const lines = parts.map(({ line, quantity }) => `${line}:${quantity}`).join(',');
    const amount = Math.min(estimateLines(payment, parts), left);
    const words = parts.map(({ line, quantity }) => `${quantity} of line ${line}`).join(', ');
    const what = `${words}, about ${formatUsdc(amount)} USDC`;
    return { amount, lines, what, sum: null };
  }
  const amount = wanted === undefined ? left : usdc(wanted);
  const sum = formatUsdc(amount);
  return { amount, lines: null, what: `${sum} USDC`, sum };
}

/**
 * Prepares a refund. A model can only prepare one: a user with a second factor must approve it on
 * the page behind the link, and no input from the model changes that.
 */
async function refundPayment(
  deps: ToolDeps,
  given: Readonly<Record<string, string>>,
  person: Person,
) {
  const { payment: id = '' } = given;
  const payment = await deps.tapline.payments.retrieve(id);
  const left = payment.amount - payment.amount_refunded;
  const wish = wishOf(payment, given);
  const { amount, what, sum } = wish;
  if (amount < 1 || amount > left) {
    throw new ToolRefusal(`Only ${formatUsdc(left)} USDC of ${id} can still be refunded.`);
  }
  await checkLimits(deps, payment, wish);
  const status = statusOf(person);
  if (status === 'declined') deps.asked.remove(payment, wish);
  else deps.asked.add(payment, wish);
  const link = new URL(`dashboard/payments/${id}`, deps.webUrl);
  if (sum !== null) link.searchParams.set('refund', sum);
  return {
    status,
    what: `Refund ${what} of payment ${id}.`,
    link: link.href,
    next: NEXT[status],
  };
}

function refuseAbove(limit: number, what: string, option: string): never {
  throw new ToolRefusal(
    `${what} at most ${formatUsdc(limit)} USDC. A person can refund more in the dashboard, or ` +
      `start \`tapline mcp\` with a higher ${option}.`,
  );
}

async function checkLimits(deps: ToolDeps, payment: Payment, wish: PreparedRefund): Promise<void> {
  const { amount } = wish;
  const { each, session, day } = deps.refundLimits;
  if (amount > each) refuseAbove(each, 'A refund may be', '--refund-limit');
  if (deps.asked.totalWith(payment, wish) > session) {
    refuseAbove(session, 'Refunds of one session may be', '--session-limit');
  }
  const total = deps.asked.others(payment.id) + amount;
  if ((await refundedToday(deps, day)) + total > day) {
    refuseAbove(day, 'Refunds of one day may be', '--day-limit');
  }
}

/** Stops paging once the limit is reached. */
async function refundedToday({ tapline }: ToolDeps, limit: number): Promise<number> {
  const midnight = `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`;
  let sum = 0;
  for await (const refund of tapline.refunds.list({ created_gte: midnight, limit: 100 })) {
    if (refund.status !== 'failed') sum += refund.amount;
    if (sum > limit) break;
  }
  return sum;
}

export const REFUND_TOOL: Tool = {
  name: 'refund_payment',
  description:
    'Prepare a refund and return a link. A person opens it and decides there, with a ' +
    'second factor. This tool moves no money.',
  inputSchema: inputs(
    {
      payment: { type: 'string', description: 'pay_…', pattern: '^pay_[0-9A-Za-z]+$' },
      amount: {
        ...AMOUNT,
        description: `${AMOUNT.description} Default: everything that has not been refunded.`,
      },
      line_items: LINES,
    },
    ['payment'],
  ),
  outputSchema: holds({
    status: { ...TEXT, enum: Object.keys(NEXT) },
    what: TEXT,
    link: TEXT,
    next: TEXT,
  }),
  annotations: {
    title: 'Prepare a refund',
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  run: refundPayment,
};
