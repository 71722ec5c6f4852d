import {
  cellsOf,
  drawerBytes,
  type Raster,
  ticketBytes,
} from '../../reader/src/printing/escpos.ts';
import { fromRoot } from '../data/root-path.ts';
import type { PrinterSettings } from './till-storage.ts';

/** A receipt printer connected to this computer, through Web Serial (Chrome and Edge). */

interface Port {
  open(options: { readonly baudRate: number }): Promise<void>;
  readonly writable: WritableStream<Uint8Array> | null;
  close(): Promise<void>;
  getInfo?(): { readonly usbVendorId?: number; readonly usbProductId?: number };
  /** Ends the permission. Chrome before 103 lacks it. */
  forget?(): Promise<void>;
}

interface Serial {
  requestPort(): Promise<Port>;
  getPorts(): Promise<readonly Port[]>;
}

/** Bits per second. The first is the usual default of serial printers; USB printers accept any. */
export const SPEEDS = [9_600, 19_200, 38_400, 57_600, 115_200] as const;
/** Bits on the cable for a byte: eight, a start bit and a stop bit. */
const BITS_PER_BYTE = 10;
/** Time-out for a printer without paper, which accepts no data, beyond the time on the cable. */
const PRINT_MS = 10_000;

function serial(): Serial | null {
  return 'serial' in navigator ? (navigator.serial as Serial) : null;
}

export function hasSerial(): boolean {
  return serial() !== null;
}

/** Describes a port by what is still the same after a reload. Web Serial gives ports no id. */
function kindOf(port: Port): string {
  const { usbVendorId = '', usbProductId = '' } = port.getInfo?.() ?? {};
  return `${usbVendorId}:${usbProductId}`;
}

async function portsOf(kind?: string): Promise<readonly Port[]> {
  const ports = (await serial()?.getPorts()) ?? [];
  return kind === undefined ? ports : ports.filter((port) => kindOf(port) === kind);
}

/** The port that was chosen since the page was loaded. */
let chosen: Port | null = null;

/** Asks the user to choose a printer. @returns its port, or `null` if they chose none. */
export async function choosePrinter(): Promise<NonNullable<PrinterSettings['port']> | null> {
  const request = serial()?.requestPort();
  chosen = (await request?.catch(() => null)) ?? null;
  if (chosen === null) return null;
  const kind = kindOf(chosen);
  // Two ports of one kind look alike after a reload, so the till keeps only the chosen one.
  for (const port of await portsOf(kind)) if (port !== chosen) await port.forget?.();
  return { kind, place: Math.max(0, (await portsOf(kind)).indexOf(chosen)) };
}

/** @throws if the chosen printer is disconnected, or if more than one device could be it. */
async function portOf({ port }: PrinterSettings): Promise<Port> {
  const ports = await portsOf(port?.kind);
  if (chosen !== null && ports.includes(chosen)) return chosen;
  const selected = port === undefined && ports.length > 1 ? undefined : ports[port?.place ?? 0];
  if (selected === undefined) throw new Error('no printer');
  return selected;
}

let turn: Promise<unknown> = Promise.resolve();

/**
 * Sends jobs in order, because a port can be open only once. @throws if the printer is disconnected
 * or accepts no data.
 */
function send(bytes: Uint8Array<ArrayBuffer>, printer: PrinterSettings): Promise<void> {
  const sent = turn.then(() => sendInTime(bytes, printer));
  turn = sent.catch(() => undefined);
  return sent;
}

async function sendInTime(bytes: Uint8Array<ArrayBuffer>, printer: PrinterSettings) {
  const baudRate = printer.speed ?? SPEEDS[0];
  const ms = PRINT_MS + (bytes.length * BITS_PER_BYTE * 1_000) / baudRate;
  const limit = new AbortController();
  const late = setTimeout(() => limit.abort(new Error('the printer does not answer')), ms);
  const isLate = new Promise<never>((_, reject) => {
    limit.signal.addEventListener('abort', () => reject(limit.signal.reason));
  });
  try {
    const port = await portOf(printer);
    await Promise.race([write(bytes, { port, baudRate, signal: limit.signal }), isLate]);
  } finally {
    clearTimeout(late);
  }
}

interface Sending {
  readonly port: Port;
  readonly baudRate: number;
  readonly signal: AbortSignal;
}

async function write(bytes: Uint8Array<ArrayBuffer>, { port, baudRate, signal }: Sending) {
  await port.open({ baudRate });
  try {
    // The cashier has seen that nothing was printed, so nothing is printed later.
    signal.throwIfAborted();
    const writer = port.writable?.getWriter();
    if (writer === undefined) throw new Error('the port cannot be written to');
    signal.addEventListener('abort', () => void writer.abort().catch(() => {}));
    try {
      await writer.write(bytes);
    } finally {
      writer.releaseLock();
    }
  } finally {
    await port.close();
  }
}

export function openDrawer(printer: PrinterSettings): Promise<void> {
  return send(drawerBytes(), printer);
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

export function printText(text: string, printer: PrinterSettings): Promise<void> {
  const draw = (line: string) => drawLine(line, printer.width);
  return send(ticketBytes({ text, address: null, draw }), printer);
}

/** Prints the receipt at this path, formatted for the paper's width. */
export async function printReceipt(path: string, printer: PrinterSettings): Promise<void> {
  const response = await fetch(fromRoot(`${path}.txt?width=${printer.width}`));
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const address = fromRoot(path).href;
  const draw = (line: string) => drawLine(line, printer.width);
  await send(ticketBytes({ text: await response.text(), address, draw }), printer);
}
