import type { Credential, DeviceApi, TapToProve } from '../../data/device-api.ts';
import { setPolicyCookie } from '../policy-cookie.ts';
import { keepUsbReader, type UsbReader } from '../till-storage.ts';
import type { Chip } from './chip-commands.ts';
import type { Read, Unread } from './read-credential.ts';

/** Port on this computer on which the program `tapline-reader` accepts the till's connection. */
export const USB_PORT = 4244;
/**
 * Pause before a reconnection, so that the till reconnects within two seconds after sleep or after
 * the program starts.
 */
const AGAIN_MS = 1_000;
/** WebSocket close codes that the program uses to end this page's connection. */
const CLOSED = { refused: 4401, replaced: 4409, tooOften: 4429 } as const;
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';

export type UsbState =
  /** The program does not answer. */
  | { readonly is: 'away' }
  | { readonly is: 'no_reader' }
  | { readonly is: 'ready'; readonly readers: readonly string[] }
  /** The program serves another network or has been paired with another till. */
  | { readonly is: 'refused' }
  /** Another window of this till uses the reader. */
  | { readonly is: 'replaced' };

/** Messages from the program that the till understands. */
type Said =
  | { readonly status: 'welcome'; readonly token?: string }
  | { readonly status: 'no_reader' }
  | { readonly status: 'ready'; readonly readers: readonly string[] }
  /** A chip that can sign is on the reader and waits for a digest. */
  | { readonly status: 'chip'; readonly public_key: string }
  /** A phone with Google Wallet asks the reader to identify its collector. */
  | ({ readonly status: 'phone' } & TapToProve)
  | { readonly status: 'tapped'; readonly tap: UsbTap };

type UsbTap =
  | { readonly status: 'signed'; readonly signed: { readonly r: string; readonly s: string } }
  | { readonly status: 'nothing_to_sign' }
  | { readonly status: 'read'; readonly credential: Credential }
  | { readonly status: 'no_pass' | 'tap_again' | 'not_a_payment_card' }
  | { readonly status: 'gone' | 'unreadable' | 'two_cards' };

const UNREAD: Readonly<Record<Exclude<UsbTap['status'], 'read' | 'signed'>, Unread>> = {
  no_pass: { is: 'no_pass', why: 'phone_without_pass' },
  tap_again: { is: 'no_pass', why: 'locked_phone' },
  not_a_payment_card: { is: 'no_pass', why: 'foreign_card' },
  nothing_to_sign: { is: 'not_signed', message: null },
  gone: { is: 'left_early' },
  unreadable: { is: 'unreadable' },
  two_cards: { is: 'no_pass', why: 'two_cards' },
};

/** Creates an unguessable code: 40 random bits, without characters that look alike. */
function newCode(): string {
  const letters = [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => ALPHABET[byte % 32]);
  return `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`;
}

/**
 * From the next load on, the page's CSP allows connections to the program. Until then the page
 * shows the code.
 */
export function addUsbReader(port = USB_PORT): UsbReader {
  const usb: UsbReader = { port, code: newCode(), token: null };
  keepUsbReader(usb);
  setPolicyCookie('tapline_reader_port', String(port));
  return usb;
}

export function removeUsbReader(): void {
  keepUsbReader(null);
  setPolicyCookie('tapline_reader_port', null);
}

function readOf(tap: Exclude<UsbTap, { status: 'signed' }>): Read {
  return tap.status === 'read' ? { is: 'pass', credential: tap.credential } : UNREAD[tap.status];
}

/** Encodes the signature as the chip does: two integers of 33 bytes. */
function derOf({ r, s }: { readonly r: string; readonly s: string }): Uint8Array {
  const digits = `3046022100${r}022100${s}`.match(/../g) ?? [];
  return Uint8Array.from(digits, (two) => Number.parseInt(two, 16));
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Tracks the chip on the reader, and passes its next message to the request that waits for a
 * signature.
 */
function usbChips(onRead: Hears['onRead']) {
  let hear: ((tap: UsbTap) => void) | null = null;
  return {
    found: (publicKey: string, socket: WebSocket) => {
      const sign: Chip['sign'] = (digest, signal) =>
        new Promise((resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
          hear = (tap) => {
            if (tap.status === 'signed') resolve(derOf(tap.signed));
            else reject(new Error(tap.status));
          };
          socket.send(JSON.stringify({ sign: hexOf(digest) }));
        });
      onRead({ is: 'chip', chip: { publicKey, sign } });
    },
    tapped: (tap: UsbTap) => {
      const waiting = hear;
      hear = null;
      if (waiting !== null) return waiting(tap);
      // Without a pending request, these messages are ignored.
      if (tap.status !== 'signed' && tap.status !== 'nothing_to_sign') onRead(readOf(tap));
    },
  };
}

/** Asks the service to sign for the reader. Sends nothing if the service's response is unknown. */
async function prove(api: UsbApi, tap: TapToProve, socket: WebSocket): Promise<void> {
  const { reader_nonce, phone_nonce, reader_key } = tap;
  const answer = await api.proveCollector({ reader_nonce, phone_nonce, reader_key });
  if (answer.is === 'done') socket.send(JSON.stringify({ proof: answer.value }));
  else if (answer.is === 'refused') socket.send(JSON.stringify({ proof: null }));
}

type UsbApi = Pick<DeviceApi, 'proveCollector'>;

interface Hears {
  readonly api: UsbApi;
  readonly onState: (state: UsbState) => void;
  readonly onRead: (read: Read) => void;
}

/** Listens to this computer's reader until the signal aborts. */
export function readUsb(usb: UsbReader, hears: Hears, signal: AbortSignal): void {
  const { api, onState, onRead } = hears;
  let known = usb;
  const chips = usbChips(onRead);
  const hear = (said: Said, socket: WebSocket) => {
    if (said.status === 'tapped') return chips.tapped(said.tap);
    if (said.status === 'chip') return chips.found(said.public_key, socket);
    if (said.status === 'phone') return void prove(api, said, socket);
    if (said.status === 'ready') return onState({ is: 'ready', readers: said.readers });
    if (said.status === 'no_reader') return onState({ is: 'no_reader' });
    if (said.token === undefined) return;
    known = { port: usb.port, code: null, token: said.token };
    keepUsbReader(known);
  };
  const open = () => {
    if (signal.aborted) return;
    const socket = new WebSocket(`ws://127.0.0.1:${usb.port}/till`);
    const end = () => socket.close();
    signal.addEventListener('abort', end, { once: true });
    socket.addEventListener('open', () => {
      const { token, code } = known;
      socket.send(JSON.stringify(token === null ? { code } : { token }));
    });
    socket.addEventListener('message', ({ data }) =>
      hear(JSON.parse(String(data)) as Said, socket),
    );
    socket.addEventListener('close', ({ code }) => {
      signal.removeEventListener('abort', end);
      if (signal.aborted) return;
      // Another window connected after this one. Taking the reader back would make both windows
      // fight over it.
      if (code === CLOSED.replaced) return onState({ is: 'replaced' });
      onState({ is: code === CLOSED.refused || code === CLOSED.tooOften ? 'refused' : 'away' });
      const waitMs = code === CLOSED.tooOften ? 60 * AGAIN_MS : AGAIN_MS;
      setTimeout(open, code === CLOSED.refused ? 15 * AGAIN_MS : waitMs);
    });
  };
  open();
}
