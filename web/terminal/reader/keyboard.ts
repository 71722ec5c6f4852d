import type { Read } from './credential.ts';
import { americanKey, readTyped, type Typed } from './layout.ts';

/** Slow readers and busy devices, too. */
const GAP_MS = 250;
/** Shorter is what a person might have typed. */
const LEAST_LENGTH = 12;
/** Nobody types 150 words a minute for so long. */
const PERSON_MS = 80;

/** What was typed without a pause, before the Enter that ended it. */
export interface Run extends Typed {
  readonly tookMs: number;
}

/** Whether a reader wrote this into a field, where people type as well. */
export function isByReader({ letters, places, tookMs }: Run): boolean {
  const length = lengthOf({ letters, places });
  if (length < LEAST_LENGTH) return false;
  const isPass = [letters, places].some((text) => /^(nfc_|https?:)/.test(text));
  return tookMs <= length * PERSON_MS || isPass;
}

/** Keys that wait for another one (“dead”) are no letters, and some readers name no places. */
function lengthOf({ letters, places }: Typed): number {
  return Math.max(letters.length, places.length);
}

export interface KeyboardReader {
  /** The payment that a pass would pay now; null while none is asked for. */
  readonly waiting: () => string | null;
  readonly onRead: (read: Read) => void;
  /** It was read while nothing was asked for: no pass, wherever it goes. */
  readonly onStray: (text: string, read: Read) => void;
}

function fieldOf({ target }: KeyboardEvent): HTMLInputElement | null {
  return target instanceof HTMLInputElement && !/^(radio|checkbox)$/.test(target.type)
    ? target
    : null;
}

/** A card's PIN is typed here: it is read by nobody, and sent nowhere. */
function isPrivate(event: KeyboardEvent): boolean {
  return fieldOf(event)?.form?.dataset.private !== undefined;
}

/** AltGr, which types letters, is Control and Alt on Windows. An input method types by itself. */
function isNoLetter(event: KeyboardEvent): boolean {
  return (
    event.metaKey || event.isComposing || (event.ctrlKey && !event.getModifierState('AltGraph'))
  );
}

/** As if nobody had typed. The setter of React's own would hide the change from its component. */
function putBack(field: HTMLInputElement, value: string): void {
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value') ?? {};
  set?.call(field, value);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

/**
 * Readers that type what they read and then press Enter (USB and Bluetooth "keyboard wedges").
 * Their Enter must not press the button that has the focus, nor their text stay in a field. What
 * began while nothing was asked for, or for another payment, is no tap wherever it ends.
 */
export function readKeyboard(reader: KeyboardReader, signal: AbortSignal): void {
  let letters = '';
  let places = '';
  let began = 0;
  let last = 0;
  let payment: string | null = null;
  const before = new Map<HTMLInputElement, string>();
  const start = (at: number) => {
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
    // Also that of a pass that was read in part.
    event.preventDefault();
    event.stopPropagation();
    for (const [field, value] of before) putBack(field, value);
    if (lengthOf({ letters, places }) < LEAST_LENGTH) return;
    const { text, read } = readTyped({ letters, places });
    if (isTap) reader.onRead(read);
    else reader.onStray(text, read);
  };
  const onKey = (event: KeyboardEvent) => {
    const { key, timeStamp } = event;
    // A browser that fills in a form sends events without a key.
    if (key === undefined || isNoLetter(event) || isPrivate(event)) return;
    const isEmpty = () => letters === '' && places === '';
    if (isEmpty() || timeStamp - last > GAP_MS) start(timeStamp);
    last = timeStamp;
    if (key === 'Enter' && !isEmpty()) {
      end(event);
      start(timeStamp);
    }
    const [letter, place] = [key.length === 1 ? key : '', americanKey(event)];
    if (letter === '' && place === '') return;
    const field = fieldOf(event);
    if (field !== null && !before.has(field)) before.set(field, field.value);
    // A blank presses the button that has the focus.
    if (field === null && key === ' ' && !isEmpty()) event.preventDefault();
    letters += letter;
    places += place;
  };
  window.addEventListener('keydown', onKey, { capture: true, signal });
}
