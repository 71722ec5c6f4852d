import { DESKTOP } from '../testing/browser.ts';
import type { Scene, Shot } from '../testing/shots.ts';
import { LONG_NAME, RIGHT_TO_LEFT_NAME } from '../testing/shots.ts';
import { postAsMerchant } from '../testing/till.ts';

/** The address of a paid payment's receipt, with a tip. */
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

interface Telling {
  readonly [field: string]: unknown;
}

function shot(name: string, changes: Telling, opened = false): Shot {
  return {
    name,
    show: async (scene) => {
      const window = await scene.browser.open(DESKTOP);
      await window.page.route('**/api/pay/v1/receipts/*', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), ...changes } });
      });
      await window.page.goto(await pay(scene));
      await window.page.getByRole('status').waitFor();
      if (opened) await window.page.getByText('Check it yourself').click();
      return window;
    },
  };
}

/** A node that this page may ask: the sandbox's own, or one that says something else. */
function checkedShot(name: string, chainId: string | null): Shot {
  return {
    name,
    show: async (scene) => {
      const { sandbox } = scene;
      const node = `${sandbox.web_url}/node-of-a-shot`;
      const window = await scene.browser.open(DESKTOP);
      await window.page.route('**/api/pay/v1/receipts/*', async (route) => {
        const response = await route.fetch();
        const receipt = await response.json();
        const json = { ...receipt, proof: { ...receipt.proof, rpc_url: node } };
        await route.fulfill({ response, json });
      });
      await window.page.route(node, async (route) => {
        const asked = route.request().postDataJSON();
        if (chainId !== null && asked.method === 'eth_chainId') {
          return route.fulfill({ json: { result: chainId } });
        }
        const answer = await fetch(sandbox.test.rpc_url, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(asked),
        });
        return route.fulfill({ json: await answer.json() });
      });
      await window.page.goto(await pay(scene));
      const verdict = chainId === null ? /^✓/ : /^✗/;
      await window.page.getByRole('status').filter({ hasText: verdict }).waitFor();
      return window;
    },
  };
}

const REFUNDS = [
  { amount: 1_000_000, status: 'succeeded', created: '2026-11-20T17:31:15.000Z' },
  { amount: 500_000, status: 'pending', created: '2026-11-20T18:02:00.000Z' },
];

const WORST = { sale: 999_999_999_999, tip: 1, amount: 1_000_000_000_000 };

export const SHOTS: readonly Shot[] = [
  shot('paid', {}),
  shot('proof', {}, true),
  checkedShot('checked', null),
  checkedShot('differs', '0x1'),
  shot('refunded', { refunds: REFUNDS, amount_refunded: 1_500_000 }),
  shot('long-name', { merchant: { name: LONG_NAME }, ...WORST, total_charged: 1_005_000_000_000 }),
  shot('right-to-left', { merchant: { name: RIGHT_TO_LEFT_NAME }, description: 'قهوتان بيضاوان' }),
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
