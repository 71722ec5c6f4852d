import type { DatevAccounts } from '#accounts/account-queries.ts';
import { type BaseSum, type Posting, RATE_DECIMALS } from '#books/datev-rows.ts';
import type { Entry, KnownRate } from '#books/entry-queries.ts';
import {
  centsText,
  distribute,
  type EntryPart,
  entryId,
  isSold,
  type Period,
  partsOf,
  ROUNDING,
  Rounding,
  toHundredths,
  wholeOf,
  wordsOf,
} from '#books/round-entries.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { readRate } from '#core/currency-conversion.ts';
import { divide } from '#prices/sale-lines.ts';

/** The accounting facts of a shop, beside its entries. */
export interface DatevBooks {
  readonly accounts: DatevAccounts;
  /** EUR where the shop counts in it, otherwise USD. */
  readonly base: 'EUR' | 'USD';
  /** The rates before the first entry. */
  readonly rates: readonly KnownRate[];
}

const USD = 'USD';
/** One USDC is one USD. */
const ONE_USD = readRate('1');
const RATE_UNIT = 10n ** BigInt(RATE_DECIMALS);

/** A refusal, with its reason for the mail of a schedule. */
export interface DatevRefusal extends Refusal {
  readonly reason: 'accounts' | 'account' | 'rate';
  /** What lacks an account or a rate. */
  readonly subject: string;
}

function noAccount(name: string, setting: string): DatevRefusal {
  const message = `Set an account for ${name} first: \`datev.${setting}\` of the settings.`;
  const refusal = refuse('parameter_invalid', message, 'format');
  return { ...refusal, reason: 'account', subject: setting };
}

function noRate(id: string, currency: string): DatevRefusal {
  const message =
    `${id} cannot be exported: no exchange rate for ${currency} was stored with it, or with an ` +
    'earlier entry. Export the days without it, or use another format.';
  return { ...refuse('parameter_invalid', message, 'format'), reason: 'rate', subject: id };
}

/** The refusal of a shop that has not set its accounts. */
export function noDatevAccounts(): DatevRefusal {
  const message = 'Set the accounts first: `datev` of the account’s settings.';
  return { ...refuse('parameter_invalid', message, 'format'), reason: 'accounts', subject: '' };
}

/** Returns the revenue account of the highest rate, or of sales without lines. */
function highestAccount({ revenue }: DatevAccounts): string | undefined {
  const rates = Object.keys(revenue).filter((rate) => rate !== 'none');
  const [highest = 'none'] = rates.sort((one, other) => Number(other) - Number(one));
  return revenue[highest];
}

/** Turns entries into postings, one after the other. */
export class DatevBooking {
  readonly #books: DatevBooks;
  readonly #period: Pick<Period, 'to' | 'dayOf'>;
  readonly #rounding: Rounding;
  /** USD for one unit of a currency, by its code in uppercase: the last one known. */
  readonly #rates = new Map<string, bigint>();

  constructor(books: DatevBooks, period: Pick<Period, 'opening' | 'to' | 'dayOf'>) {
    this.#books = books;
    this.#period = period;
    this.#rounding = new Rounding(period.opening);
    for (const rate of books.rates) this.#learn(rate);
  }

  #learn({ shop_currency: currency, shop_rate: rate }: Pick<Entry, keyof KnownRate>): void {
    if (currency !== null && rate !== null) this.#rates.set(currency.toUpperCase(), readRate(rate));
  }

  /** Returns an entry's postings, none of 0.00. */
  postings(entry: Entry): Posting[] | DatevRefusal {
    this.#learn(entry);
    const { currency, minor } = entry;
    const isPriced = currency !== null && minor !== null && minor !== 0n;
    const code = isPriced ? currency.toUpperCase() : USD;
    const cents = isPriced ? toHundredths(wholeOf(entry), currency) : this.#rounding.inCents(entry);
    const parts = partsOf(entry);
    const shares = isSold(entry) ? distribute(cents, parts) : [cents];
    if (shares.every((share) => share === 0n)) return [];
    const rate = this.#rateOf(code, entry);
    if (isRefusal(rate)) return rate;
    const postings: Posting[] = [];
    for (const [index, share] of shares.entries()) {
      const part = parts[index];
      if (share === 0n || part === undefined) continue;
      const account = isSold(entry) ? this.#accountOf(part) : this.#books.accounts.bank;
      if (isRefusal(account)) return account;
      postings.push({
        ...{ account, contra: this.#books.accounts.clearing, cents: share, currency: code },
        ...{ day: this.#period.dayOf(entry.created), base: this.#inBase(share, rate) },
        ...{ document: entry.receipt_number ?? entryId(entry), text: wordsOf(entry) },
        id: entryId(entry),
      });
    }
    return postings;
  }

  #accountOf({ rate, isTip }: EntryPart): string | DatevRefusal {
    const { accounts } = this.#books;
    if (isTip) return accounts.tips ?? highestAccount(accounts) ?? noAccount('tips', 'tips');
    if (rate === null) {
      return accounts.revenue.none ?? noAccount('sales without items', 'revenue.none');
    }
    const name = `the tax rate ${centsText(BigInt(rate))} %`;
    return accounts.revenue[rate] ?? noAccount(name, `revenue.${rate}`);
  }

  /**
   * Returns the units of a currency for one of the base, in millionths; `null` for the base itself.
   */
  #rateOf(currency: string, entry?: Entry): bigint | null | DatevRefusal {
    const { base } = this.#books;
    if (currency === base) return null;
    const id = entry === undefined ? ROUNDING : entryId(entry);
    const own = currency === USD ? ONE_USD : this.#usdFor(currency, entry);
    if (own === undefined) return noRate(id, currency);
    const ofBase = base === USD ? ONE_USD : this.#rates.get(base);
    if (ofBase === undefined) return noRate(id, base);
    return divide(ofBase * RATE_UNIT, own);
  }

  /** A sale in another currency than its shop's has the rate of its own quote. */
  #usdFor(currency: string, entry: Entry | undefined): bigint | undefined {
    const isShops = entry?.shop_currency?.toUpperCase() === currency;
    if (isShops || entry?.quote_rate == null) return this.#rates.get(currency);
    return readRate(entry.quote_rate);
  }

  #inBase(cents: bigint, rate: bigint | null): BaseSum | null {
    if (rate === null) return null;
    return { currency: this.#books.base, rate, cents: divide(cents * RATE_UNIT, rate) };
  }

  /** Returns the posting of what rounding to cents has left; `null` if there is none. */
  rounding(): Posting | null | DatevRefusal {
    const left = this.#rounding.left();
    if (left === 0n) return null;
    const rate = this.#rateOf(USD);
    if (isRefusal(rate)) return rate;
    const { clearing, rounding } = this.#books.accounts;
    return {
      // What the balance has more than the rows debits the clearing account.
      ...{ account: clearing, contra: rounding, cents: -left, currency: USD },
      ...{ day: this.#period.to, base: this.#inBase(-left, rate) },
      ...{ document: '', text: ROUNDING, id: '' },
    };
  }
}
