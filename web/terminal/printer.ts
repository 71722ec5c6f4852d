import { drawerBytes, ticketBytes } from '../../reader/src/printing/escpos.ts';
import { fromRoot } from '../data/root.ts';
import type { Settings } from './kept.ts';

/** A receipt printer on a cable of this computer, by Web Serial: Chrome and Edge have it. */

interface Port {
  open(options: { readonly baudRate: number }): Promise<void>;
  readonly writable: WritableStream<Uint8Array> | null;
  close(): Promise<void>;
}

interface Serial {
  requestPort(): Promise<Port>;
  getPorts(): Promise<readonly Port[]>;
}

/** What printers come with. Those on USB take any. */
const BAUD_RATE = 9600;
/** A printer without paper takes no bytes. */
const PRINT_MS = 10_000;

function serial(): Serial | null {
  return 'serial' in navigator ? (navigator.serial as Serial) : null;
}

export function hasSerial(): boolean {
  return serial() !== null;
}

/** Asks the person which one. @returns whether one was chosen. */
export async function choosePrinter(): Promise<boolean> {
  const port = await serial()
    ?.requestPort()
    .catch(() => null);
  return port != null;
}

let turn: Promise<unknown> = Promise.resolve();

/** One after the other: a port is open once. @throws where the printer is away or takes nothing. */
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

/** The receipt at this path, at the width of the paper. */
export async function printReceipt(
  path: string,
  { width }: NonNullable<Settings['printer']>,
): Promise<void> {
  const response = await fetch(fromRoot(`${path}.txt?width=${width}`));
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const address = fromRoot(path).href;
  await send(ticketBytes({ text: await response.text(), address }));
}
