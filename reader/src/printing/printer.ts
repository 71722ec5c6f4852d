import { open } from 'node:fs/promises';
import { connect } from 'node:net';
import { nodeFetch } from 'tapline/node-fetch';
import { SettingError } from '../till-settings.ts';
import { drawerBytes, isInCodePage, type Raster, ticketBytes } from './escpos.ts';

/** A receipt printer, on a cable (its device file) or on the network (`tcp://printer:9100`). */
export type Printer = (bytes: Uint8Array) => Promise<void>;

/**
 * Time limit, because a printer without paper accepts no data. The sale is already paid, so the
 * reader stops trying.
 */
const PRINT_MS = 10_000;
/** The usual port for raw printing. */
const RAW_PORT = 9100;

/** Opens the printer. @throws SettingError if its location has no known form. */
export function printerAt(path: string): Printer {
  if (path.startsWith('/')) return (bytes) => inTime(writeFile(path, bytes));
  const url = URL.parse(path);
  if (url?.protocol !== 'tcp:' || url.hostname === '') {
    throw new SettingError('--printer must be a device file or tcp://address:9100.');
  }
  const where = { host: url.hostname, port: Number(url.port || RAW_PORT) };
  return (bytes) => inTime(writeSocket(where, bytes));
}

async function writeFile(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.writeFile(bytes);
  } finally {
    await file.close();
  }
}

function writeSocket(where: { readonly host: string; readonly port: number }, bytes: Uint8Array) {
  return new Promise<void>((resolve, reject) => {
    const socket = connect(where);
    socket.setTimeout(PRINT_MS, () => socket.destroy(new Error('the printer does not answer')));
    socket.once('error', reject);
    socket.once('connect', () => socket.end(bytes));
    socket.once('close', (failed) => {
      if (!failed) resolve();
    });
    // Discards the status data that some printers send.
    socket.resume();
  });
}

async function inTime(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the printer does not answer')), PRINT_MS);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

export interface Printing {
  readonly printer: Printer;
  /** Width of the paper in characters. */
  readonly width: 32 | 48;
  readonly drawer: boolean;
}

/** Opens the drawer first, because the cashier waits for it, then prints the receipt. */
export async function printReceipt(
  { printer, width, drawer }: Printing,
  receiptUrl: string | null,
): Promise<void> {
  if (drawer) await printer(drawerBytes());
  if (receiptUrl === null) return;
  const paper = { width, ms: PRINT_MS };
  const text = await receiptText(receiptUrl, paper);
  const drawing = isInCodePage(text) ? NOT_DRAWN : await drawnReceipt(receiptUrl, text, paper);
  const ticket =
    drawing === null
      ? { text: await receiptText(receiptUrl, { ...paper, language: 'en' }) }
      : { text, ...drawing };
  await printer(ticketBytes({ ...ticket, address: receiptUrl }));
}

interface Paper {
  readonly width: 32 | 48;
  /** Time limit for the server's answer. */
  readonly ms: number;
}

/**
 * Reads a receipt as text that is laid out for paper of this width.
 * @param language by default the shop's
 */
export async function receiptText(
  receiptUrl: string,
  { width, ms, language }: Paper & { readonly language?: string },
): Promise<string> {
  const lang = language === undefined ? '' : `&lang=${language}`;
  const response = await readReceipt(`${receiptUrl}.txt?width=${width}${lang}`, ms);
  return response.text();
}

async function readReceipt(url: string, ms: number): Promise<Response> {
  const response = await nodeFetch(url, { signal: AbortSignal.timeout(ms) });
  if (!response.ok) throw new Error(`the receipt: HTTP ${response.status}`);
  return response;
}

const NOT_DRAWN = {};
/** Magic number, width and height of a bitmap in the format PBM. */
const PBM = /^P4\n(\d+) (\d+)\n/;
const HEADER_BYTES = 32;

/**
 * Reads a receipt's lines as the server draws them, because this program has no fonts. @returns
 * `null` if the server cannot draw it
 */
async function drawnReceipt(
  receiptUrl: string,
  text: string,
  { width, ms }: Paper,
): Promise<{ readonly draw: (line: string) => Raster } | null> {
  try {
    const response = await readReceipt(`${receiptUrl}.pbm?width=${width}`, ms);
    const bitmap = Buffer.from(await response.arrayBuffer());
    const [head = '', dots, height] = PBM.exec(bitmap.toString('latin1', 0, HEADER_BYTES)) ?? [];
    const lines = text.normalize('NFC').split('\n');
    const [bytesPerRow, rows] = [Math.ceil(Number(dots) / 8), Number(height) / lines.length];
    if (!Number.isInteger(rows) || bitmap.length !== head.length + bytesPerRow * Number(height)) {
      return null;
    }
    const draw = (line: string) => {
      const start = head.length + lines.indexOf(line) * rows * bytesPerRow;
      return { bytesPerRow, rows, dots: bitmap.subarray(start, start + rows * bytesPerRow) };
    };
    return { draw };
  } catch {
    return null;
  }
}

/**
 * Reads a receipt for a register, in English if its character set lacks a letter of the shop's
 * language.
 */
export async function receiptThatFits(
  receiptUrl: string,
  { fits, ...paper }: Paper & { readonly fits: (text: string) => boolean },
): Promise<string> {
  const text = await receiptText(receiptUrl, paper);
  return fits(text) ? text : receiptText(receiptUrl, { ...paper, language: 'en' });
}
