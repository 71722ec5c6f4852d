import { formatUsdc, IdempotencyError, type PaymentIntent, TaplineError, usdc } from 'tapline';
import {
  holds,
  inputs,
  listOf,
  MAYBE_OBJECT,
  MAYBE_TEXT,
  reads,
  TEXT,
  type Tool,
  type ToolDeps,
  ToolRefusal,
  YES_OR_NO,
} from './tool-definition.ts';

const ORDER = {
  type: 'string',
  description: 'The order id: 1 to 8 characters of A-Z a-z 0-9 - _. Each order has one payment.',
  pattern: '^[A-Za-z0-9_-]{1,8}$',
} as const;
export const AMOUNT = {
  type: 'string',
  description: 'USDC as text with a decimal point, such as "2.50".',
  pattern: '^\\d{1,9}(\\.\\d{1,6})?$',
} as const;

export function view(intent: PaymentIntent): object {
  const { id, order_id, status, payment, last_payment_error, expires_at } = intent;
  const amount = `${formatUsdc(intent.amount)} USDC`;
  return { payment_intent: id, order_id, amount, status, payment, last_payment_error, expires_at };
}

const VIEW = {
  payment_intent: TEXT,
  order_id: MAYBE_TEXT,
  amount: { ...TEXT, description: 'Such as "2.50 USDC".' },
  status: TEXT,
  payment: { ...MAYBE_TEXT, description: 'pay_…, once it has succeeded.' },
  last_payment_error: MAYBE_OBJECT,
  expires_at: MAYBE_TEXT,
} as const;

/** An order has one intent, whichever client created it. */
async function findOrder({ tapline }: ToolDeps, order_id: string): Promise<PaymentIntent | null> {
  const { data } = await tapline.paymentIntents.list({ order_id, limit: 1 }).page;
  return data[0] ?? null;
}

/**
 * The idempotency key is derived from the order, so that a model that calls again gets the same
 * payment. If the amount differs, reports that and charges nothing.
 */
async function createPayment(deps: ToolDeps, given: Readonly<Record<string, string>>) {
  const { order_id = '', amount = '', terminal, description } = given;
  const body = {
    amount: usdc(amount),
    terminal: terminal ?? (await deps.terminal()),
    order_id,
    ...(description === undefined ? {} : { description }),
  };
  const idempotencyKey = `mcp-order-${order_id}`;
  try {
    const created = await deps.tapline.paymentIntents.create(body, { idempotencyKey });
    // A repeated request gets the first response, so this reads the current state.
    return view(await deps.tapline.paymentIntents.retrieve(created.id));
  } catch (error) {
    const taken =
      error instanceof IdempotencyError ||
      (error instanceof TaplineError && error.code === 'order_id_in_use');
    const known = taken ? await findOrder(deps, order_id) : null;
    if (known === null) throw error;
    const there = `${formatUsdc(known.amount)} USDC, ${known.status}`;
    throw new ToolRefusal(
      `Order ${order_id} already has a payment: ${known.id}, ${there}. No new one was requested. ` +
        'Use another order_id for another sale.',
    );
  }
}

/** Two weeks of a shop with one till, which a model can read at once. */
const SHIFTS = 14;
const FIGURES = { type: 'array', items: { type: 'object' } } as const;

export const PAYMENT_TOOLS: readonly Tool[] = [
  {
    name: 'create_payment',
    description:
      'Ask a terminal to collect an amount for an order. The customer then taps there. ' +
      'Calling it again for the same order returns the same payment: it never charges twice.',
    inputSchema: inputs(
      {
        order_id: ORDER,
        amount: AMOUNT,
        terminal: {
          type: 'string',
          description: 'tml_…; default: the first active one.',
          pattern: '^tml_[0-9A-Za-z]+$',
        },
        description: {
          type: 'string',
          description: 'Shown to the customer.',
          pattern: '^.{1,500}$',
        },
      },
      ['order_id', 'amount'],
    ),
    outputSchema: holds(VIEW),
    annotations: {
      title: 'Request a payment',
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    run: createPayment,
  },
  {
    name: 'get_payment',
    description: 'Get the current state of a payment intent (pi_…) or payment (pay_…).',
    inputSchema: inputs(
      {
        id: {
          type: 'string',
          description: 'pi_… or pay_…',
          pattern: '^(pi|pay)_[0-9A-Za-z]+$',
        },
      },
      ['id'],
    ),
    outputSchema: {
      type: 'object',
      properties: { status: TEXT },
      description: 'The payment as in the API, or the intent as create_payment shows it.',
    },
    annotations: reads('Get a payment'),
    run: async ({ tapline }, { id = '' }) =>
      id.startsWith('pay_')
        ? tapline.payments.retrieve(id)
        : view(await tapline.paymentIntents.retrieve(id)),
  },
  {
    name: 'find_payment_by_order',
    description: 'Find the payment of an order, if there is one.',
    inputSchema: inputs({ order_id: ORDER }, ['order_id']),
    outputSchema: holds({ found: YES_OR_NO, ...VIEW }, Object.keys(VIEW)),
    annotations: reads('Find the payment of an order'),
    run: async (deps, { order_id = '' }) => {
      const intent = await findOrder(deps, order_id);
      return intent === null ? { found: false, order_id } : { found: true, ...view(intent) };
    },
  },
  {
    name: 'list_terminals',
    description: 'List the active terminals, which can take payments.',
    inputSchema: inputs({}, []),
    outputSchema: holds({
      terminals: listOf(holds({ id: TEXT, label: MAYBE_TEXT, name: MAYBE_TEXT })),
    }),
    annotations: reads('List terminals'),
    run: async ({ tapline }) => {
      const { data } = await tapline.terminals.list({ status: 'active', limit: 100 }).page;
      return { terminals: data.map(({ id, label, name }) => ({ id, label, name })) };
    },
  },
  {
    name: 'list_shifts',
    description:
      'List the newest reports of shifts at terminals that have ended. Sums are in minor units ' +
      'of their currency, or in USDC atoms for `usdc`. Cash is not counted.',
    inputSchema: inputs({}, []),
    outputSchema: holds({
      shifts: listOf(
        holds({ id: TEXT, report: TEXT, terminal: TEXT, ended_at: TEXT, figures: FIGURES }),
      ),
    }),
    annotations: reads('List shift reports'),
    run: async ({ tapline }) => {
      const { data } = await tapline.shifts.list({ limit: SHIFTS }).page;
      const shifts = data.map(({ id, series, number, terminal, ended_at, figures }) => {
        return { id, report: `${series}-${number}`, terminal, ended_at, figures };
      });
      return { shifts };
    },
  },
];
