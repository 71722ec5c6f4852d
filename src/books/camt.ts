import type { Entry } from '#books/entry-queries.ts';
import {
  centsText,
  entryId,
  type Format,
  type Period,
  ROUNDING,
  Rounding,
  toCents,
  wordsOf,
} from '#books/round-entries.ts';
import { element, xmlText } from '#books/xml.ts';
import { localTime } from '#core/calendar.ts';

/**
 * Writes a bank statement of ISO 20022, `camt.053.001.08`: an XML file that banking and accounting
 * programs can read. `camt-053-001-08.json` has the order of the schema's elements.
 */

const CURRENCY = 'USD';
/** Maximum lengths of the schema's types, in characters. */
const MAX_REFERENCE = 35;
const MAX_REMITTANCE = 140;
const MAX_INFORMATION = 500;

/**
 * Returns an amount and its direction, which are two elements.
 * @param isDebit needed for amounts of less than a cent, which are written as 0.
 */
function sum(cents: bigint, isDebit = cents < 0n): string {
  const amount = `<Amt Ccy="${CURRENCY}">${centsText(cents < 0n ? -cents : cents)}</Amt>`;
  return amount + element('CdtDbtInd', isDebit ? 'DBIT' : 'CRDT');
}

function balance(code: 'OPBD' | 'CLBD', atoms: bigint, day: string): string {
  const type = element('Tp', element('CdOrPrtry', element('Cd', code)));
  return element('Bal', type + sum(toCents(atoms)) + element('Dt', element('Dt', day)));
}

function head(period: Period): string {
  const { tenant, timeZone, since, until, from, to, opening, closing } = period;
  // The suffix distinguishes statements of the same days. The schema allows 35 characters.
  const id = `${tenant.livemode ? 'live' : 'test'}-${from}-${to}-${until.getTime().toString(36)}`;
  const made = element('CreDtTm', localTime(timeZone, until));
  const span =
    element('FrDtTm', localTime(timeZone, since)) + element('ToDtTm', localTime(timeZone, until));
  const account = element('Id', element('Othr', element('Id', tenant.accountId)));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>\n',
    element('GrpHdr', element('MsgId', id) + made),
    '\n<Stmt>',
    element('Id', id) + made + element('FrToDt', span),
    element('Acct', account + element('Ccy', CURRENCY)),
    `\n${balance('OPBD', opening, from)}\n${balance('CLBD', closing, to)}\n`,
  ].join('');
}

/** Programs that read no `DtTm` here would lose the day. */
function status(day: string): string {
  const booked = element('Sts', element('Cd', 'BOOK'));
  const at = element('Dt', day);
  return `${booked}${element('BookgDt', at)}${element('ValDt', at)}`;
}

function code(kind: string): string {
  const issuer = element('Issr', 'Tapline');
  return element('BkTxCd', element('Prtry', element('Cd', kind) + issuer));
}

/** Returns a text that ends with the exact amount, even if its words are cut. */
function information(words: string, atoms: bigint): string {
  const exact = ` (${atoms} atoms)`;
  return element('AddtlNtryInf', xmlText(words, MAX_INFORMATION - exact.length) + exact);
}

function entryXml({ dayOf }: Period, entry: Entry, cents: bigint): string {
  const { type, amount, created, order_id } = entry;
  const id = xmlText(entryId(entry), MAX_REFERENCE);
  const refs = element('Refs', element('EndToEndId', xmlText(order_id ?? id, MAX_REFERENCE)));
  const words = wordsOf(entry);
  const remittance = element('RmtInf', element('Ustrd', xmlText(words, MAX_REMITTANCE)));
  const content = [
    element('NtryRef', id) + sum(cents, amount < 0n),
    status(dayOf(created)),
    element('AcctSvcrRef', id) + code(type.toUpperCase()),
    element('NtryDtls', element('TxDtls', refs + remittance)),
    information(words, amount < 0n ? -amount : amount),
  ];
  return `${element('Ntry', content.join(''))}\n`;
}

function roundingXml({ to }: Period, cents: bigint): string {
  if (cents === 0n) return '';
  const reference = element('NtryRef', ROUNDING) + sum(cents);
  const content = reference + status(to) + code('ADJUSTMENT') + information(ROUNDING, 0n);
  return `${element('Ntry', content)}\n`;
}

export const CAMT: Format = {
  mediaType: 'application/xml; charset=utf-8',
  extension: 'xml',
  open: (period) => {
    const rounding = new Rounding(period.opening);
    const note = period.count === 0 ? element('AddtlStmtInf', 'No entries') : '';
    return {
      head: head(period),
      entry: (entry) => entryXml(period, entry, rounding.inCents(entry)),
      tail: () => {
        return `${roundingXml(period, rounding.left())}${note}</Stmt></BkToCstmrStmt></Document>\n`;
      },
    };
  },
};
