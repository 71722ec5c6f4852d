import { formatUsdc, type Payment, usdc } from 'tapline';
import { AMOUNT } from './payment-tools.ts';
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

/**
 * Prepares a refund. A model can only prepare one: a user with a second factor must approve it on
 * the page behind the link, and no input from the model changes that.
 */
async function refundPayment(
  deps: ToolDeps,
  given: Readonly<Record<string, string>>,
  person: Person,
) {
  const { payment: id = '', amount: wanted } = given;
  const payment = await deps.tapline.payments.retrieve(id);
  const left = payment.amount - payment.amount_refunded;
  const amount = wanted === undefined ? left : usdc(wanted);
  if (amount < 1 || amount > left) {
    throw new ToolRefusal(`Only ${formatUsdc(left)} USDC of ${id} can still be refunded.`);
  }
  await checkLimits(deps, payment, amount);
  const status = statusOf(person);
  if (status === 'declined') deps.asked.remove(payment, amount);
  else deps.asked.add(payment, amount);
  const link = new URL(`dashboard/payments/${id}`, deps.webUrl);
  link.searchParams.set('refund', formatUsdc(amount));
  return {
    status,
    what: `Refund ${formatUsdc(amount)} USDC of payment ${id}.`,
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

async function checkLimits(deps: ToolDeps, payment: Payment, amount: number): Promise<void> {
  const { each, session, day } = deps.refundLimits;
  if (amount > each) refuseAbove(each, 'A refund may be', '--refund-limit');
  if (deps.asked.totalWith(payment, amount) > session) {
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
