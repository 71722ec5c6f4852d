import { type Read, readText } from './credential.ts';

/** Slow readers and busy devices, too. */
const GAP_MS = 250;
/** Shorter is what a person might have typed. */
const LEAST_LENGTH = 12;
/** Nobody types 150 words a minute for so long. */
const PERSON_MS = 80;

/** What was typed without a pause, before the Enter that ended it. */
export interface Run {
  readonly text: string;
  readonly tookMs: number;
}

/** Whether a reader wrote this into a field, where people type as well. */
export function isByReader({ text, tookMs }: Run): boolean {
  if (text.length < LEAST_LENGTH) return false;
  return tookMs <= text.length * PERSON_MS || /^(nfc_|https?:)/.test(text);
}

export interface KeyboardReader {
  /** The payment that a pass would pay now; null while none is asked for. */
  readonly waiting: () => string | null;
  readonly onRead: (read: Read) => void;
  /** It was read while nothing was asked for: no pass, wherever it goes. */
  readonly onStray: (text: string) => void;
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
  let text = '';
  let began = 0;
  let last = 0;
  let payment: string | null = null;
  const before = new Map<HTMLInputElement, string>();
  const start = (at: number) => {
    text = '';
    began = at;
    payment = reader.waiting();
    before.clear();
  };
  const end = (event: KeyboardEvent) => {
    const isTap = payment !== null && payment === reader.waiting();
    const isPerson = fieldOf(event) !== null && !isByReader({ text, tookMs: last - began });
    if (!isTap && isPerson) return;
    // Also that of a pass that was read in part.
    event.preventDefault();
    event.stopPropagation();
    for (const [field, value] of before) putBack(field, value);
    if (text.length < LEAST_LENGTH) return;
    if (isTap) reader.onRead(readText(text));
    else reader.onStray(text);
  };
  const onKey = (event: KeyboardEvent) => {
    const { key, timeStamp, ctrlKey, metaKey } = event;
    // A browser that fills in a form sends events without a key.
    if (key === undefined || ctrlKey || metaKey || isPrivate(event)) return;
    if (text === '' || timeStamp - last > GAP_MS) start(timeStamp);
    last = timeStamp;
    if (key === 'Enter' && text !== '') {
      end(event);
      text = '';
    }
    if (key.length !== 1) return;
    const field = fieldOf(event);
    if (field !== null && !before.has(field)) before.set(field, field.value);
    // A blank presses the button that has the focus.
    if (field === null && key === ' ' && text !== '') event.preventDefault();
    text += key;
  };
  window.addEventListener('keydown', onKey, { capture: true, signal });
}
