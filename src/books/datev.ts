import type { Entry } from '#books/entry-queries.ts';
import {
  decimalText,
  entryId,
  type Format,
  type Period,
  ROUNDING,
  type Rounded,
  Rounding,
  wordsOf,
} from '#books/round-entries.ts';
import { dayIn, wallTime } from '#core/calendar.ts';

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

/**
 * Accounts of the chart SKR 03, which the accountant replaces on import: revenue, the bank account
 * of the settlement wallet, and money in transit for the balance at Tapline.
 */
const REVENUE = '8200';
const BANK = '1200';
const BALANCE = '1360';

const CENTS = 2;
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
  ...['Umsatz (ohne Soll/Haben-Kz)', 'Soll/Haben-Kennzeichen', 'WKZ Umsatz', 'Konto'],
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

/** @param day `YYYY-MM-DD`. */
function sumCells({ currency, units }: Rounded, day: string): Cells {
  const size = decimalText(units < 0n ? -units : units, CENTS).replace('.', ',');
  return {
    'Umsatz (ohne Soll/Haben-Kz)': size,
    'Soll/Haben-Kennzeichen': quoted(units < 0n ? 'S' : 'H'),
    'WKZ Umsatz': quoted(currency),
    Belegdatum: `${day.slice(8)}${day.slice(5, 7)}`,
    'Gegenkonto (ohne BU-Schlüssel)': BALANCE,
  };
}

function entryRow({ timeZone }: Period, entry: Entry, sum: Rounded): string {
  const id = entryId(entry);
  return row({
    ...sumCells(sum, dayIn(timeZone, entry.created)),
    'Soll/Haben-Kennzeichen': quoted(entry.amount < 0n ? 'S' : 'H'),
    Konto: entry.type === 'payout' ? BANK : REVENUE,
    'Belegfeld 1': quoted(documentOf(entry.receipt_number ?? id)),
    Buchungstext: quoted(shortText(wordsOf(entry))),
    'Beleginfo - Art 1': quoted('Tapline'),
    'Beleginfo - Inhalt 1': quoted(id),
  });
}

function compact(day: string): string {
  return day.replaceAll('-', '');
}

/**
 * Returns the first line. DATEV requires numbers of a consultant and a client, which the import
 * replaces.
 */
function head({ timeZone, until, from, to }: Period): string {
  const made = new Date(wallTime(timeZone, until.getTime())).toISOString();
  const created = `${made.slice(0, 19).replaceAll(/\D/g, '')}000`;
  const fields = [
    ...['"EXTF"', '700', '21', '"Buchungsstapel"', '13', created, '', '"TL"', '""', '""'],
    ...['1001', '1', `${from.slice(0, 4)}0101`, '4', compact(from), compact(to)],
    ...[quoted('Tapline'), '""', '1', '0', '0', '"EUR"', '', '""', '', ''],
    ...['"03"', '', '', '""', '""'],
  ];
  return `${fields.join(';')}\r\n${DATEV_COLUMNS.join(';')}\r\n`;
}

export const DATEV: Format = {
  mediaType: 'text/csv; charset=windows-1252',
  extension: 'csv',
  prefix: 'EXTF_',
  encoding: 'latin',
  open: (period) => {
    const rounding = new Rounding(period.opening, CENTS);
    return {
      head: head(period),
      entry: (entry) => entryRow(period, entry, rounding.inOwn(entry)),
      tail: () => {
        const units = rounding.left();
        if (units === 0n) return '';
        const cells = sumCells({ currency: 'USD', units }, period.to);
        return row({ ...cells, Konto: REVENUE, Buchungstext: quoted(ROUNDING) });
      },
    };
  },
};
