import { DESKTOP, type TestWindow } from '../testing/browser.ts';
import { alterReceipts, type ReceiptChanges } from '../testing/receipt.ts';
import type { Scene, Shot } from '../testing/shots.ts';
import { LONG_NAME, RIGHT_TO_LEFT_NAME } from '../testing/shots.ts';
import { postAsMerchant } from '../testing/till.ts';

/** Pays with a tip. @returns the receipt's URL. */
async function pay({ sandbox }: Scene): Promise<string> {
  const { agent_terminal: terminal, secret_key } = sandbox.test;
  const sale = { amount: 2_500_000, terminal, tipping: { percentages: [10] } };
  const intent = await postAsMerchant(sandbox, '/payment_intents', sale);
  const tap = { payment_intent: intent.id, tip_amount: 250_000 };
  const paid = await postAsMerchant(sandbox, `/test_helpers/terminals/${terminal}/tap`, tap);
  const response = await fetch(`${sandbox.base_url}/v1/payments/${paid.payment}`, {
    headers: { Authorization: `Bearer ${secret_key}` },
  });
  const { receipt_url } = (await response.json()) as { receipt_url: string };
  return `${sandbox.web_url}/receipts/${receipt_url.split('/').at(-1)}`;
}

type Show = (window: TestWindow) => Promise<void>;

const opened: Show = ({ page }) => page.getByText('On-chain details').click();

/** Emulates printing on an 80 mm roll. */
const printed: Show = ({ page }) => page.emulateMedia({ media: 'print' });

function shot(
  name: string,
  { changes, show }: { readonly changes?: ReceiptChanges; readonly show?: Show } = {},
): Shot {
  return {
    name,
    show: async (scene) => {
      const window = await scene.browser.open(DESKTOP);
      if (changes !== undefined) await alterReceipts(window, changes);
      await window.page.goto(await pay(scene));
      await window.page.getByRole('status').filter({ hasText: /^[✓✗]/ }).waitFor();
      await show?.(window);
      return window;
    },
  };
}

const REFUNDS = [
  {
    amount: 1_000_000,
    status: 'succeeded',
    created: '2026-11-20T17:31:15.000Z',
    receipt_number: 'K7XQM-1043',
  },
  {
    amount: 500_000,
    status: 'pending',
    created: '2026-11-20T18:02:00.000Z',
    receipt_number: null,
  },
];

const WORST = { sale: 999_999_999_999, tip: 1, amount: 1_000_000_000_000 };

/** Refunds half of a payment. @returns the receipt's URL. */
async function giveBack(scene: Scene): Promise<string> {
  const { agent_terminal: terminal, secret_key } = scene.sandbox.test;
  const sale = { amount: 2_500_000, terminal };
  const intent = await postAsMerchant(scene.sandbox, '/payment_intents', sale);
  const tap = { payment_intent: intent.id };
  const paid = await postAsMerchant(scene.sandbox, `/test_helpers/terminals/${terminal}/tap`, tap);
  const refund = { payment: paid.payment, amount: 1_250_000 };
  const { id } = await postAsMerchant(scene.sandbox, '/refunds', refund);
  const response = await fetch(`${scene.sandbox.base_url}/v1/refunds/${id}`, {
    headers: { Authorization: `Bearer ${secret_key}` },
  });
  const { receipt_url } = (await response.json()) as { receipt_url: string };
  return `${scene.sandbox.web_url}/receipts/${receipt_url.split('/').at(-1)}`;
}

export const SHOTS: readonly Shot[] = [
  {
    name: 'refund',
    show: async (scene) => {
      const window = await scene.browser.open(DESKTOP);
      await window.page.goto(await giveBack(scene));
      await window.page.getByRole('heading', { level: 1 }).waitFor();
      return window;
    },
  },
  shot('paid'),
  shot('proof', { show: opened }),
  shot('paper', { show: printed }),
  shot('differs', { changes: { order_id: 'OTHER' } }),
  shot('refunded', { changes: { refunds: REFUNDS, amount_refunded: 1_500_000 } }),
  shot('long-name', {
    changes: { merchant: { name: LONG_NAME }, ...WORST, paid: 1_005_000_000_000 },
  }),
  shot('right-to-left', {
    changes: { merchant: { name: RIGHT_TO_LEFT_NAME }, description: 'قهوتان بيضاوان' },
  }),
  {
    name: 'missing',
    show: async ({ browser, sandbox }) => {
      const window = await browser.open(DESKTOP);
      await window.page.goto(`${sandbox.web_url}/receipts/nobody-s`);
      await window.page.getByRole('alert').waitFor();
      return window;
    },
  },
];
