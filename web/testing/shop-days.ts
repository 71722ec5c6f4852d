import { present } from '#core/assert.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Database } from '#db/database.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { payAt } from './desk.ts';
import { drawn } from './month.ts';
import { addTestTerminal, postAsMerchant } from './till.ts';

/** Number of sales: more than one page of a list, so that the next page is partly filled. */
const SALES = 90;
const DAYS = 9;
const CENT = 10_000;
/** The terminals. Each handles one sale at a time, so three of them sell in parallel. */
const COUNTERS = ['Bar', 'Terrace', 'Garden counter'] as const;

/** Every n-th sale has a tip. The constants below work in the same way. */
const TIPPED = 4;
const DECLINED = 11;
const REFUNDED = 15;
const CALLED_OFF = 29;

/** Returns an amount from 2.40 to 31.90, typical of a café. */
function amountOf(sale: number): number {
  return (240 + Math.round(drawn(sale) * drawn(sale + 500) * 2_950)) * CENT;
}

/** Makes one sale at a counter. @returns its intent. */
async function sell(sandbox: SandboxFile, terminal: string, sale: number): Promise<string> {
  const amount = amountOf(sale);
  if (sale % CALLED_OFF === 7) {
    const { id } = await postAsMerchant(sandbox, '/payment_intents', { amount, terminal });
    await postAsMerchant(sandbox, `/payment_intents/${id}/cancel`);
    return String(id);
  }
  const pass = sale % DECLINED === 5 ? 'insufficient_funds' : 'ok';
  const tip = Math.round(amount / 10 / CENT) * CENT;
  const paying = { terminal, amount, pass, ...(sale % TIPPED === 1 ? { tip } : {}) } as const;
  const { intent, payment } = await payAt(sandbox, paying);
  if (payment !== '' && sale % REFUNDED === 3) {
    const part = sale % (2 * REFUNDED) === 3 ? {} : { amount: Math.round(amount / 2) };
    await postAsMerchant(sandbox, '/refunds', { payment, ...part });
  }
  return intent;
}

/** Moves the sale's timestamps back by this many milliseconds. */
async function moveBack(db: Database, intent: string, ms: number): Promise<void> {
  const ago = `$2 * interval '1 ms'`;
  await db.query(
    `with paid as (
       update payments set created = created - ${ago}, settled_at = settled_at - ${ago}
       where payment_intent_id = $1 returning id
     ), back as (
       update refunds set created = created - ${ago} where payment_id in (
         select id from payments where payment_intent_id = $1
       )
     )
     update payment_intents set created = created - ${ago}, tapped_at = tapped_at - ${ago},
       expires_at = expires_at - ${ago}, canceled_at = canceled_at - ${ago} where id = $1`,
    [intent, ms],
  );
}

/**
 * Creates ninety sales of the demo account in test mode through the API, with tips, declines,
 * refunds and a canceled sale. Most are then moved to earlier days, so that charts show more than
 * one day.
 */
export async function sellForDays(sandbox: SandboxFile, db: Database): Promise<void> {
  const counters = await Promise.all(COUNTERS.map((label) => addTestTerminal(sandbox, label)));
  const sold = await Promise.all(
    counters.map(async ({ id }, counter) => {
      const intents: string[] = [];
      for (let sale = counter; sale < SALES; sale += COUNTERS.length) {
        intents.push(await sell(sandbox, id, sale));
      }
      return intents;
    }),
  );
  for (let sale = 0; sale < SALES; sale++) {
    const intent = present(
      sold[sale % COUNTERS.length]?.[Math.floor(sale / COUNTERS.length)],
      'sale',
    );
    const daysAgo = DAYS - 1 - Math.floor(sale / (SALES / DAYS));
    // Spreads the sales over some hours before now. Even at midnight, the last ones are from today
    // or late yesterday.
    const minutesAgo = ((SALES - sale) % (SALES / DAYS)) * 23;
    await moveBack(db, intent, daysAgo * DAY_MS + minutesAgo * 60_000);
  }
}
