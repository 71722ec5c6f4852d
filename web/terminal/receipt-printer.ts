import {
  cellsOf,
  drawerBytes,
  type Raster,
  ticketBytes,
} from '../../reader/src/printing/escpos.ts';
import { fromRoot } from '../data/root-path.ts';
import type { Settings } from './till-storage.ts';

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
/** Time-out for a printer without paper, which accepts no data. */
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

/** Cell in dots of font A: a line has 384 dots for 32 characters, or 576 for 48. */
const CELL = { width: 12, height: 28 };
const BASELINE = 21;
/** Brightness below which a pixel is printed as a dot. */
const THRESHOLD = 140;

/**
 * Draws a line with this computer's fonts, for a script that the printer lacks. Name and value stay
 * in their columns. Each is drawn in one piece, so that its letters join and run in the script's
 * direction.
 */
function drawLine(line: string, columns: number): Raster {
  const width = columns * CELL.width;
  const canvas = new OffscreenCanvas(width, CELL.height);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('no canvas');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, CELL.height);
  context.fillStyle = '#000';
  context.font = '20px sans-serif';
  for (const { 0: part, index } of line.matchAll(/\S+(?: \S+)*/g)) {
    const left = cellsOf(line.slice(0, index)) * CELL.width;
    context.fillText(part, left, BASELINE, cellsOf(part) * CELL.width);
  }
  const { data } = context.getImageData(0, 0, width, CELL.height);
  const dots = new Uint8Array((width / 8) * CELL.height);
  for (let at = 0; at < width * CELL.height; at++) {
    if ((data[at * 4] ?? 255) < THRESHOLD)
      dots[at >> 3] = (dots[at >> 3] ?? 0) | (0x80 >> (at & 7));
  }
  return { bytesPerRow: width / 8, rows: CELL.height, dots };
}

/** Prints lines that fit the paper's width. */
export function printText(
  text: string,
  { width }: NonNullable<Settings['printer']>,
): Promise<void> {
  return send(ticketBytes({ text, address: null, draw: (line) => drawLine(line, width) }));
}

/** Prints the receipt at this path, formatted for the paper's width. */
export async function printReceipt(
  path: string,
  { width }: NonNullable<Settings['printer']>,
): Promise<void> {
  const response = await fetch(fromRoot(`${path}.txt?width=${width}`));
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const address = fromRoot(path).href;
  const draw = (line: string) => drawLine(line, width);
  await send(ticketBytes({ text: await response.text(), address, draw }));
}
