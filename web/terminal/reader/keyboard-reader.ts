import { americanKey, type Typed } from './american-key.ts';
import { type Read, readText } from './read-credential.ts';

/** Longest pause within one read. It allows for slow readers and busy devices. */
const GAP_MS = 250;
/** Minimum length of a read. A person may have typed a shorter text. */
const LEAST_LENGTH = 12;
/** Minimum length of a barcode, which is read while no payment waits: EAN-8. */
const LEAST_CODE = 8;
/**
 * The slowest reader, in milliseconds per key. That is 150 words a minute, which no person types
 * for a whole read.
 */
const PERSON_MS = 80;

/** Keys typed without a pause, before the Enter that ended them. */
export interface Run extends Typed {
  readonly tookMs: number;
}

/** True if a reader, not a person, typed this into a field. */
export function isByReader({ letters, places, tookMs }: Run): boolean {
  const length = lengthOf({ letters, places });
  if (length < LEAST_LENGTH) return false;
  const isPass = [letters, places].some((text) => /^(nfc_|https?:)/.test(text));
  return tookMs <= length * PERSON_MS || isPass;
}

/** Counts the keys: dead keys produce no letter, and some readers send no key codes. */
function lengthOf({ letters, places }: Typed): number {
  return Math.max(letters.length, places.length);
}

export interface KeyboardReader {
  /** Returns the payment that a pass would pay now, or `null` if there is none. */
  readonly waiting: () => string | null;
  readonly onRead: (read: Read) => void;
  /** Called for a read that began while no payment waited. Such a read pays nothing. */
  readonly onStray: (text: string, read: Read) => void;
}

/** Loads the layouts at the first key. With their checksum they are too large for a first load. */
const loadLayouts = () => import('./keyboard-layout.ts');

/** If the layouts cannot be loaded, uses the letters as typed; the service checks them. */
async function decode(typed: Typed): Promise<{ readonly text: string; readonly read: Read }> {
  try {
    return (await loadLayouts()).readTyped(typed);
  } catch {
    const { letters } = typed;
    return { text: letters, read: readText(letters.trim()) };
  }
}

function fieldOf({ target }: KeyboardEvent): HTMLInputElement | null {
  return target instanceof HTMLInputElement && !/^(radio|checkbox)$/.test(target.type)
    ? target
    : null;
}

/** True for the field for a card's PIN: keystrokes in it are neither read nor sent. */
function isPrivate(event: KeyboardEvent): boolean {
  return fieldOf(event)?.form?.dataset.private !== undefined;
}

/**
 * True if the key produces no letter. AltGr produces one, but Windows reports it as Ctrl+Alt. Input
 * methods insert text without key events.
 */
function isNoLetter(event: KeyboardEvent): boolean {
  return (
    event.metaKey || event.isComposing || (event.ctrlKey && !event.getModifierState('AltGraph'))
  );
}

/** React's own setter would hide the change from its component. */
function putBack(field: HTMLInputElement, value: string): void {
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value') ?? {};
  set?.call(field, value);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

/**
 * Handles readers that type their input and then press Enter (USB and Bluetooth keyboard wedges).
 * Their Enter must not click the focused button, and their text must not stay in a field. A read
 * that began before a payment was requested, or for another payment, is never a tap.
 */
export function readKeyboard(reader: KeyboardReader, signal: AbortSignal): void {
  let letters = '';
  let places = '';
  let began = 0;
  let last = 0;
  let payment: string | null = null;
  const before = new Map<HTMLInputElement, string>();
  const start = (at: number) => {
    // If loading fails, decoding reports it.
    loadLayouts().catch(() => {});
    letters = '';
    places = '';
    began = at;
    payment = reader.waiting();
    before.clear();
  };
  const end = (event: KeyboardEvent) => {
    const isTap = payment !== null && payment === reader.waiting();
    const isPerson =
      fieldOf(event) !== null && !isByReader({ letters, places, tookMs: last - began });
    if (!isTap && isPerson) return;
    // Also swallows the Enter after a partially read pass.
    event.preventDefault();
    event.stopPropagation();
    for (const [field, value] of before) putBack(field, value);
    const expected = isTap ? payment : null;
    if (lengthOf({ letters, places }) < (expected === null ? LEAST_CODE : LEAST_LENGTH)) return;
    void decode({ letters, places }).then(({ text, read }) => {
      if (expected !== null && expected === reader.waiting()) reader.onRead(read);
      else reader.onStray(text, read);
    });
  };
  const onKey = (event: KeyboardEvent) => {
    const { key, timeStamp } = event;
    // Browsers that fill in a form send events without a key.
    if (key === undefined || isNoLetter(event) || isPrivate(event)) return;
    const isEmpty = () => letters === '' && places === '';
    if (isEmpty() || timeStamp - last > GAP_MS) start(timeStamp);
    last = timeStamp;
    if (key === 'Enter' && !isEmpty()) {
      end(event);
      start(timeStamp);
    }
    const [letter, americanCharacter] = [key.length === 1 ? key : '', americanKey(event)];
    if (letter === '' && americanCharacter === '') return;
    const field = fieldOf(event);
    if (field !== null && !before.has(field)) before.set(field, field.value);
    // A space would click the focused button, so suppress it.
    if (field === null && key === ' ' && !isEmpty()) event.preventDefault();
    letters += letter;
    places += americanCharacter;
  };
  window.addEventListener('keydown', onKey, { capture: true, signal });
}
