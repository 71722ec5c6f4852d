import type { ShopAt } from '#accounts/locations.ts';
import { selectShopAt } from '#accounts/locations.ts';
import { paperText, type TextWidth } from '#apis/pay/receipt-plain-text.ts';
import type { ReceiptLine } from '#apis/pay/receipt-slip.ts';
import { localDecimal } from '#core/sums.ts';
import { named } from '#i18n/bidi-isolates.ts';
import { type TextKey, type Writer, writerFor } from '#i18n/text.ts';
import type { ShiftReport, WriteMail } from '#shifts/end-shift.ts';

type Figures = ShiftReport['figures'][number];

/** Program output, the same in every language. */
const CORRECTION = 'CORRECTION';
const METHODS: Readonly<Record<string, TextKey>> = {
  wallet_pass: 'receipt.method.wallet_pass',
  agent_token: 'receipt.method.agent_token',
  wallet: 'receipt.method.wallet',
};

/** Formats a sum in minor units of a currency, or in atoms of USDC. */
function sumIn(currency: string, { money, usdc }: Writer): (sum: number) => string {
  if (currency !== 'usdc') return (sum) => money(sum, currency);
  return (sum) => (sum < 0 ? `\u2212${usdc(BigInt(-sum))}` : usdc(BigInt(sum)));
}

function figureLines(figures: Figures, writer: Writer): ReceiptLine[] {
  const { text } = writer;
  const { currency, count, sales, tips, discounts, refunds, refunded } = figures;
  const sum = sumIn(currency, writer);
  const line = (key: TextKey, value: string) => ({ name: text(key), value });
  const taxes = (rows: Figures['taxes'], key: TextKey) =>
    rows.map(({ rate, net, tax, gross }) => ({
      name: text(key, { rate: writer.percent(rate) }),
      value: sum(tax),
      also: writer.isolated('receipt.tax_of', { net: sum(net), gross: sum(gross) }),
    }));
  return [
    line('till.totals.payments', String(count)),
    line('till.totals.sales', sum(sales)),
    line('till.totals.tips', sum(tips)),
    ...(discounts === 0 ? [] : [line('till.totals.discounts', sum(discounts))]),
    { name: text('till.totals.refunds', { refunds }), value: sum(-refunded) },
    line('till.totals.total', sum(sales + tips - refunded)),
    ...taxes(figures.taxes, 'receipt.tax'),
    ...taxes(figures.refunded_taxes, 'till.report.refunded_tax'),
    ...(currency === 'usdc' ? [] : [{ name: 'USDC', value: writer.usdc(atomsOf(figures)) }]),
  ];
}

function atomsOf({ atoms }: Figures): bigint {
  return BigInt(Math.max(atoms, 0));
}

function heading(name: string): ReceiptLine {
  return { name, value: '' };
}

function personBlocks({ cashiers }: ShiftReport, writer: Writer): ReceiptLine[][] {
  if (cashiers.every(({ cashier }) => cashier === null)) return [];
  return cashiers.flatMap(({ name, figures }) =>
    figures.map((own) => [
      heading(name === null ? writer.text('till.totals.no_cashier') : named(name)),
      ...figureLines(own, writer),
    ]),
  );
}

function soldBlocks({ methods, items }: ShiftReport, writer: Writer): ReceiptLine[][] {
  const { text, locale } = writer;
  return [
    methods.map(({ type, credential, currency, count, gross }) => ({
      name: `${count} × ${METHODS[type] === undefined ? credential : text(METHODS[type])}`,
      value: sumIn(currency, writer)(gross),
    })),
    items.map(({ name, quantity, currency, gross }) => ({
      name: `${localDecimal(quantity, locale, {})} × ${named(name)}`,
      value: sumIn(currency, writer)(gross),
    })),
  ];
}

function countLines(report: ShiftReport, { text }: Writer): ReceiptLine[] {
  const span = (first: string | null, last: string | null, key: TextKey) =>
    first === null || last === null ? [] : [{ name: text(key), value: `${first} – ${last}` }];
  const { first_receipt, last_receipt, first_refund_receipt, last_refund_receipt } = report;
  return [
    { name: text('till.report.offline'), value: String(report.offline) },
    { name: text('till.totals.declined'), value: String(report.declines) },
    ...span(first_receipt, last_receipt, 'till.report.receipts'),
    ...span(first_refund_receipt, last_refund_receipt, 'till.report.refund_receipts'),
  ];
}

function correctionBlocks({ corrections }: ShiftReport, writer: Writer): ReceiptLine[][] {
  return corrections.flatMap((one) => {
    const row = 'payment' in one ? one.payment : one.refund;
    return one.figures.map((figures) => [
      { name: CORRECTION, value: row },
      { name: '', value: one.of },
      ...figureLines(figures, writer),
    ]);
  });
}

export interface Printing {
  readonly shop: ShopAt;
  readonly width: TextWidth;
  readonly merchantName: string;
  readonly isCopy: boolean;
}

/** Returns the report as text for a printer. */
export function shiftReportText(report: ShiftReport, printing: Printing): string {
  const { shop, width, merchantName, isCopy } = printing;
  const writer = writerFor(shop.language ?? 'en');
  const { text, time } = writer;
  const at = (moment: string) => time(moment, shop.time_zone);
  const facts = [
    { name: text('till.report.series'), value: `${report.series}-${report.number}` },
    { name: text('till.report.from'), value: at(report.covers_from) },
    { name: text('till.report.to'), value: at(report.ended_at) },
  ];
  return paperText(
    {
      head: [
        merchantName,
        text('till.report.heading', { number: report.number }),
        ...(isCopy ? [text('till.report.copy')] : []),
        ...(report.livemode ? [] : [text('till.report.test_mode')]),
      ],
      blocks: [
        facts,
        ...report.figures.map((figures) => figureLines(figures, writer)),
        ...personBlocks(report, writer),
        ...soldBlocks(report, writer),
        countLines(report, writer),
        ...correctionBlocks(report, writer),
      ],
      end: [
        ...(report.after_loss ? [text('till.report.after_loss')] : []),
        text('till.report.no_cash'),
      ],
    },
    width,
  );
}

/** Writes the mail to the account's `report_email`. */
export const writeShiftMail: WriteMail = async (report, { sql, accountId, merchantName }) => {
  const shop = await selectShopAt(sql, { accountId, terminalId: report.terminal });
  const { text } = writerFor(shop.language ?? 'en');
  const printed = shiftReportText(report, { shop, merchantName, width: 48, isCopy: false });
  const { number } = report;
  return {
    subject: text('till.report.mail_subject', { number, merchant: merchantName }),
    text: printed,
    ...(shop.language === null ? {} : { language: shop.language }),
  };
};
