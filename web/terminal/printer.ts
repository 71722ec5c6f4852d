import { drawerBytes, ticketBytes } from '../../reader/src/printing/escpos.ts';
import { fromRoot } from '../data/root.ts';
import type { Settings } from './kept.ts';

/** A receipt printer connected to this computer, through Web Serial (Chrome and Edge). */

interface Port {
  open(options: { readonly baudRate: number }): Promise<void>;
  readonly writable: WritableStream<Uint8Array> | null;
  close(): Promise<void>;
}

interface Serial {
  requestPort(): Promise<Port>;
  getPorts(): Promise<readonly Port[]>;
}

/** The usual default of serial printers. USB printers accept any rate. */
const BAUD_RATE = 9600;
/** A printer without paper accepts no data, so give up after this long. */
const PRINT_MS = 10_000;

function serial(): Serial | null {
  return 'serial' in navigator ? (navigator.serial as Serial) : null;
}

export function hasSerial(): boolean {
  return serial() !== null;
}

/** Asks the user to choose a printer. @returns true if they did. */
export async function choosePrinter(): Promise<boolean> {
  const port = await serial()
    ?.requestPort()
    .catch(() => null);
  return port != null;
}

let turn: Promise<unknown> = Promise.resolve();

/**
 * Sends jobs in order, because a port can be open only once. @throws if the printer is disconnected
 * or accepts no data.
 */
function send(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const sent = turn.then(async () => {
    const [port] = (await serial()?.getPorts()) ?? [];
    if (port === undefined) throw new Error('no printer');
    await port.open({ baudRate: BAUD_RATE });
    const writer = port.writable?.getWriter();
    const late = setTimeout(() => void writer?.abort(), PRINT_MS);
    try {
      await writer?.write(bytes);
    } finally {
      clearTimeout(late);
      writer?.releaseLock();
      await port.close();
    }
  });
  turn = sent.catch(() => undefined);
  return sent;
}

export function openDrawer(): Promise<void> {
  return send(drawerBytes());
}

/** Prints the receipt at this path, formatted for the paper's width. */
export async function printReceipt(
  path: string,
  { width }: NonNullable<Settings['printer']>,
): Promise<void> {
  const response = await fetch(fromRoot(`${path}.txt?width=${width}`));
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const address = fromRoot(path).href;
  await send(ticketBytes({ text: await response.text(), address }));
}
