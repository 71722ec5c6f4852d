import { open } from 'node:fs/promises';
import { connect } from 'node:net';
import { SettingError } from '../till-settings.ts';
import { drawerBytes, ticketBytes } from './escpos.ts';

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
export function printerAt(place: string): Printer {
  if (place.startsWith('/')) return (bytes) => inTime(writeFile(place, bytes));
  const url = URL.parse(place);
  if (url?.protocol !== 'tcp:' || url.hostname === '') {
    throw new SettingError('--printer must be a device file or tcp://address:9100.');
  }
  const where = { host: url.hostname, port: Number(url.port || RAW_PORT) };
  return (bytes) => inTime(writeSocket(where, bytes));
}

async function writeFile(place: string, bytes: Uint8Array): Promise<void> {
  const file = await open(place, 'w');
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
  const text = await receiptText(receiptUrl, { width, ms: PRINT_MS });
  await printer(ticketBytes({ text, address: receiptUrl }));
}

/** Reads a receipt as text that is laid out for paper of this width. */
export async function receiptText(
  receiptUrl: string,
  { width, ms }: { readonly width: 32 | 48; readonly ms: number },
): Promise<string> {
  const response = await fetch(`${receiptUrl}.txt?width=${width}`, {
    signal: AbortSignal.timeout(ms),
  });
  if (!response.ok) throw new Error(`the receipt: HTTP ${response.status}`);
  return response.text();
}
