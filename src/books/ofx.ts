import { pricedWords } from '#books/bank-csv.ts';
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

/**
 * Writes a bank statement of OFX 2.2, the XML that programs such as GnuCash, HomeBank and Quicken
 * import. Facts from the specification of the Financial Data Exchange, "OFX Banking 2.2": elements
 * and their order, and the lengths of their types.
 */

const MAX_ACCOUNT = 22;
const MAX_NAME = 32;
const MAX_MEMO = 255;
/** The specification limits it to nine characters. */
const BANK = 'TAPLINE';
const CURRENCY = 'USD';
const OK = element('STATUS', element('CODE', '0') + element('SEVERITY', 'INFO'));

/** A day without a time: a time would move it to another day in some time zones. */
function ofxDay(day: string): string {
  return day.replaceAll('-', '');
}

function head({ tenant, from, to, until }: Period): string {
  const made = until.toISOString().replace(/[-T:]/g, '').replace('Z', '[0:GMT]');
  const signOn = OK + element('DTSERVER', made) + element('LANGUAGE', 'ENG');
  const account =
    element('BANKID', BANK) +
    element('ACCTID', tenant.accountId.slice(-MAX_ACCOUNT)) +
    element('ACCTTYPE', 'CHECKING');
  return [
    '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n',
    '<?OFX OFXHEADER="200" VERSION="220" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>\n',
    `<OFX>${element('SIGNONMSGSRSV1', element('SONRS', signOn))}\n`,
    `<BANKMSGSRSV1><STMTTRNRS>${element('TRNUID', '0')}${OK}<STMTRS>`,
    element('CURDEF', CURRENCY) + element('BANKACCTFROM', account),
    `\n<BANKTRANLIST>${element('DTSTART', ofxDay(from))}${element('DTEND', ofxDay(to))}\n`,
  ].join('');
}

interface Transaction {
  readonly id: string;
  readonly day: string;
  readonly cents: bigint;
  readonly name: string;
  readonly memo: string;
}

function transactionXml({ id, day, cents, name, memo }: Transaction): string {
  const content = [
    element('TRNTYPE', cents < 0n ? 'DEBIT' : 'CREDIT'),
    element('DTPOSTED', ofxDay(day)),
    element('TRNAMT', centsText(cents)),
    element('FITID', id),
    element('NAME', xmlText(name, MAX_NAME)),
    element('MEMO', xmlText(memo, MAX_MEMO)),
  ];
  return `${element('STMTTRN', content.join(''))}\n`;
}

function entryXml({ dayOf }: Period, entry: Entry, cents: bigint): string {
  if (cents === 0n) return '';
  const name = wordsOf({ ...entry, description: null });
  const [id, day] = [entryId(entry), dayOf(entry.created)];
  return transactionXml({ id, day, cents, name, memo: pricedWords(entry) });
}

function tail({ to, closing }: Period, left: bigint): string {
  const rounding = { id: `${ROUNDING}-${to}`, day: to, cents: left, name: ROUNDING };
  const last = left === 0n ? '' : transactionXml({ ...rounding, memo: ROUNDING });
  const balance = element('BALAMT', centsText(toCents(closing))) + element('DTASOF', ofxDay(to));
  return [
    `${last}</BANKTRANLIST>\n${element('LEDGERBAL', balance)}`,
    '</STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n',
  ].join('');
}

export const OFX: Format = {
  mediaType: 'application/x-ofx; charset=utf-8',
  extension: 'ofx',
  open: (period) => {
    const rounding = new Rounding(period.opening);
    return {
      head: head(period),
      entry: (entry) => entryXml(period, entry, rounding.inCents(entry)),
      tail: () => tail(period, rounding.left()),
    };
  },
};
