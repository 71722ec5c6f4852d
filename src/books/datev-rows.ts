import { centsText, type Period } from '#books/round-entries.ts';
import { type Days, wallTime } from '#core/calendar.ts';
import { plainDecimal } from '#core/sums.ts';

/**
 * The posting batch of DATEV, `EXTF` 700 with version 13 of the `Buchungsstapel`. Facts from
 * https://developer.datev.de/datev/platform/de/dtvf/formate/buchungsstapel: columns and their
 * order, text in double quotes, a comma before decimals, no control characters, Windows-1252.
 */

function numbered(count: number, names: (n: number) => string[]): string[] {
  return Array.from({ length: count }, (_, i) => names(i + 1)).flat();
}

/** All columns of the format's version. Columns that our files do not fill stay empty. */
export const DATEV_COLUMNS: readonly string[] = [
  ...['Umsatz (ohne Soll/Haben-Kz)', 'Soll/Haben-Kennzeichen', 'WKZ Umsatz', 'Kurs'],
  ...['Basis-Umsatz', 'WKZ Basis-Umsatz', 'Konto', 'Gegenkonto (ohne BU-Schlüssel)'],
  ...['BU-Schlüssel', 'Belegdatum', 'Belegfeld 1', 'Belegfeld 2', 'Skonto', 'Buchungstext'],
  ...['Postensperre', 'Diverse Adressnummer', 'Geschäftspartnerbank', 'Sachverhalt'],
  ...['Zinssperre', 'Beleglink'],
  ...numbered(8, (n) => [`Beleginfo - Art ${n}`, `Beleginfo - Inhalt ${n}`]),
  ...['KOST1 - Kostenstelle', 'KOST2 - Kostenstelle', 'Kost-Menge'],
  ...['EU-Land u. UStID (Bestimmung)', 'EU-Steuersatz (Bestimmung)', 'Abw. Versteuerungsart'],
  ...['Sachverhalt L+L', 'Funktionsergänzung L+L', 'BU 49 Hauptfunktionstyp'],
  ...['BU 49 Hauptfunktionsnummer', 'BU 49 Funktionsergänzung'],
  ...numbered(20, (n) => [`Zusatzinformation - Art ${n}`, `Zusatzinformation- Inhalt ${n}`]),
  ...['Stück', 'Gewicht', 'Zahlweise', 'Forderungsart', 'Veranlagungsjahr'],
  ...['Zugeordnete Fälligkeit', 'Skontotyp', 'Auftragsnummer', 'Buchungstyp'],
  ...['USt-Schlüssel (Anzahlungen)', 'EU-Land (Anzahlungen)', 'Sachverhalt L+L (Anzahlungen)'],
  ...['EU-Steuersatz (Anzahlungen)', 'Erlöskonto (Anzahlungen)', 'Herkunft-Kz', 'Buchungs GUID'],
  ...['KOST-Datum', 'SEPA-Mandatsreferenz', 'Skontosperre', 'Gesellschaftername'],
  ...['Beteiligtennummer', 'Identifikationsnummer', 'Zeichnernummer', 'Postensperre bis'],
  ...['Bezeichnung SoBil-Sachverhalt', 'Kennzeichen SoBil-Buchung', 'Festschreibung'],
  ...['Leistungsdatum', 'Datum Zuord. Steuerperiode', 'Fälligkeit', 'Generalumkehr (GU)'],
  ...['Steuersatz', 'Land', 'Abrechnungsreferenz', 'BVV-Position'],
  ...['EU-Land u. UStID (Ursprung)', 'EU-Steuersatz (Ursprung)', 'Abw. Skontokonto'],
];

/** The numbers of the text columns. Their values are quoted even if they are empty. */
const TEXT_COLUMNS: ReadonlySet<number> = new Set([
  ...[2, 3, 6, 9, 11, 12, 14, 16, 20, 37, 38, 40, 42, 91, 95, 96, 98, 102, 103, 105, 107, 109],
  ...[110, 112, 118, 120, 121, 123],
  ...Array.from({ length: 16 }, (_, i) => 21 + i),
  ...Array.from({ length: 40 }, (_, i) => 48 + i),
]);

const MAX_TEXT = 60;
const MAX_DOCUMENT = 36;

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** Returns a value for Belegfeld 1, which allows letters, digits and a few symbols. */
function documentOf(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9$%&*+\-/]/g, '-').slice(0, MAX_DOCUMENT);
}

/** Cuts a text to the maximum number of characters, each of which takes one byte in the file. */
function shortText(text: string): string {
  return [...text.replaceAll(/\p{Cc}/gu, ' ')].slice(0, MAX_TEXT).join('');
}

/** The columns that our files fill, in the format's order. */
const FILLED = [
  ...['Umsatz (ohne Soll/Haben-Kz)', 'Soll/Haben-Kennzeichen', 'WKZ Umsatz', 'Kurs'],
  ...['Basis-Umsatz', 'WKZ Basis-Umsatz', 'Konto'],
  ...['Gegenkonto (ohne BU-Schlüssel)', 'Belegdatum', 'Belegfeld 1', 'Buchungstext'],
  ...['Beleginfo - Art 1', 'Beleginfo - Inhalt 1'],
] as const;

type Cells = { readonly [Column in (typeof FILLED)[number]]?: string };

function emptyCell(column: string): string {
  return TEXT_COLUMNS.has(DATEV_COLUMNS.indexOf(column) + 1) ? '""' : '';
}

/**
 * The empty cells before each filled column, and after the last one. They make up most of a line.
 */
const GAPS = [...FILLED, undefined].map((column, n) => {
  const before = FILLED[n - 1];
  const start = before === undefined ? 0 : DATEV_COLUMNS.indexOf(before) + 1;
  const end = column === undefined ? DATEV_COLUMNS.length : DATEV_COLUMNS.indexOf(column);
  const cells = DATEV_COLUMNS.slice(start, end).map(emptyCell);
  return [...(n > 0 ? [''] : []), ...cells, ...(column === undefined ? [] : [''])].join(';');
});
const EMPTY = FILLED.map(emptyCell);

function row(cells: Cells): string {
  const line = FILLED.map((column, n) => `${GAPS[n]}${cells[column] ?? EMPTY[n]}`).join('');
  return `${line}${GAPS.at(-1)}\r\n`;
}

/** A posting, which becomes a row. */
export interface Posting {
  readonly day: string;
  readonly account: string;
  readonly contra: string;
  /** Hundredths of a unit of the currency; above 0 credits `account`, below 0 debits it. */
  readonly cents: bigint;
  /** ISO 4217, in uppercase. */
  readonly currency: string;
  /** The sum in the base currency; `null` if the posting is in it. */
  readonly base: BaseSum | null;
  readonly document: string;
  readonly text: string;
  /** The ID of the entry; empty for rounding. */
  readonly id: string;
}

export interface BaseSum {
  readonly currency: string;
  /** Millionths of a unit of the posting's currency for one unit of the base currency. */
  readonly rate: bigint;
  readonly cents: bigint;
}

export const RATE_DECIMALS = 6;

const comma = (decimal: string) => decimal.replace('.', ',');
const size = (cents: bigint) => comma(centsText(cents < 0n ? -cents : cents));

function baseCells(base: BaseSum | null): Cells {
  if (base === null) return {};
  return {
    Kurs: comma(plainDecimal(base.rate, RATE_DECIMALS)),
    'Basis-Umsatz': size(base.cents),
    'WKZ Basis-Umsatz': quoted(base.currency),
  };
}

export function datevRow(posting: Posting): string {
  const { day, account, contra, cents, currency, base, document, text, id } = posting;
  return row({
    'Umsatz (ohne Soll/Haben-Kz)': size(cents),
    'Soll/Haben-Kennzeichen': quoted(cents < 0n ? 'S' : 'H'),
    'WKZ Umsatz': quoted(currency),
    ...baseCells(base),
    Konto: account,
    'Gegenkonto (ohne BU-Schlüssel)': contra,
    Belegdatum: `${day.slice(8)}${day.slice(5, 7)}`,
    ...(document === '' ? {} : { 'Belegfeld 1': quoted(documentOf(document)) }),
    Buchungstext: quoted(shortText(text)),
    ...(id === ''
      ? {}
      : { 'Beleginfo - Art 1': quoted('Tapline'), 'Beleginfo - Inhalt 1': quoted(id) }),
  });
}

function compact(day: string): string {
  return day.replaceAll('-', '');
}

/** The facts of a batch that its first line has. */
export interface BatchHead {
  /** The base currency. */
  readonly currency: string;
  readonly chart: string;
  /** The number of digits of the accounts. */
  readonly digits: number;
}

/**
 * Returns the first two lines of a batch, whose days are in one year. DATEV requires numbers of a
 * consultant and a client, which the import replaces.
 */
export function datevHead(
  { timeZone, until }: Pick<Period, 'timeZone' | 'until'>,
  { from, to }: Days,
  { currency, chart, digits }: BatchHead,
): string {
  const made = new Date(wallTime(timeZone, until.getTime())).toISOString();
  const created = `${made.slice(0, 19).replaceAll(/\D/g, '')}000`;
  const fields = [
    ...['"EXTF"', '700', '21', '"Buchungsstapel"', '13', created, '', '"TL"', '""', '""'],
    ...['1001', '1', `${from.slice(0, 4)}0101`, String(digits), compact(from), compact(to)],
    ...[quoted('Tapline'), '""', '1', '0', '0', quoted(currency), '', '""', '', ''],
    ...[quoted(chart.replace('skr', '')), '', '', '""', '""'],
  ];
  return `${fields.join(';')}\r\n${DATEV_COLUMNS.join(';')}\r\n`;
}
