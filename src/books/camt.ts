import type { Entry } from '#books/entry-queries.ts';
import {
  decimalText,
  entryId,
  type Format,
  type Period,
  ROUNDING,
  Rounding,
  roundedBalance,
  wordsOf,
} from '#books/round-entries.ts';
import { localTime } from '#core/calendar.ts';
import { escapeHtml } from '#core/escape-html.ts';

/**
 * Writes a bank statement of ISO 20022, `camt.053.001.08`: an XML file that banking and accounting
 * programs can read. `camt-053-001-08.json` has the order of the schema's elements.
 */

/** An amount of the schema has at most five decimals. */
const DECIMALS = 5;
const CURRENCY = 'USD';
/** Maximum lengths of the schema's types, in characters. */
const MAX_REFERENCE = 35;
const MAX_REMITTANCE = 140;
const MAX_INFORMATION = 500;

/** Matches characters that XML does not allow. */
const NOT_IN_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

function xmlText(text: string, most: number): string {
  return escapeHtml([...text.replaceAll(NOT_IN_XML, ' ')].slice(0, most).join(''));
}

function element(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}

/**
 * Returns an amount and its direction, which are two elements.
 * @param isDebit needed for amounts of less than one unit, which are written as 0.
 */
function sum(units: bigint, isDebit = units < 0n): string {
  const size = decimalText(units < 0n ? -units : units, DECIMALS, 2);
  const amount = `<Amt Ccy="${CURRENCY}">${size}</Amt>`;
  return amount + element('CdtDbtInd', isDebit ? 'DBIT' : 'CRDT');
}

function balance(code: 'OPBD' | 'CLBD', atoms: bigint, day: string): string {
  const type = element('Tp', element('CdOrPrtry', element('Cd', code)));
  const units = roundedBalance(atoms, DECIMALS);
  return element('Bal', type + sum(units) + element('Dt', element('Dt', day)));
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

function status(at: string): string {
  const booked = element('Sts', element('Cd', 'BOOK'));
  return `${booked}${element('BookgDt', at)}${element('ValDt', at)}`;
}

function code(kind: string): string {
  const issuer = element('Issr', 'Tapline');
  return element('BkTxCd', element('Prtry', element('Cd', kind) + issuer));
}

function entryXml({ timeZone }: Period, entry: Entry, units: bigint): string {
  const { type, amount, created, order_id } = entry;
  const id = xmlText(entryId(entry), MAX_REFERENCE);
  const refs = element('Refs', element('EndToEndId', xmlText(order_id ?? id, MAX_REFERENCE)));
  const words = wordsOf(entry);
  const remittance = element('RmtInf', element('Ustrd', xmlText(words, MAX_REMITTANCE)));
  const atoms = amount < 0n ? -amount : amount;
  const information = xmlText(`${atoms} atoms, ${words}`, MAX_INFORMATION);
  const content = [
    element('NtryRef', id) + sum(units, amount < 0n),
    status(element('DtTm', localTime(timeZone, created))),
    element('AcctSvcrRef', id) + code(type.toUpperCase()),
    element('NtryDtls', element('TxDtls', refs + remittance)),
    element('AddtlNtryInf', information),
  ];
  return `${element('Ntry', content.join(''))}\n`;
}

function roundingXml({ to }: Period, units: bigint): string {
  if (units === 0n) return '';
  const at = status(element('Dt', to));
  const information = element('AddtlNtryInf', `0 atoms, ${ROUNDING}`);
  const content = element('NtryRef', ROUNDING) + sum(units) + at + code('ADJUSTMENT') + information;
  return `${element('Ntry', content)}\n`;
}

export const CAMT: Format = {
  mediaType: 'application/xml; charset=utf-8',
  extension: 'xml',
  encoding: 'utf8',
  open: (period) => {
    const rounding = new Rounding(period.opening, DECIMALS);
    return {
      head: head(period),
      entry: (entry) => entryXml(period, entry, rounding.inUsd(entry).units),
      tail: () => `${roundingXml(period, rounding.left())}</Stmt></BkToCstmrStmt></Document>\n`,
    };
  },
};
