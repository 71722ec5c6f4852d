export type Role = 'button' | 'link' | 'radio' | 'switch';

/** What a person does in a browser, whatever drives it. */
export interface Hands {
  goto(url: string): Promise<void>;
  /** Makes the window this wide. */
  resize(width: number): Promise<void>;
  /** Clicks the control of this name where it is on the screen: what covers it gets the click. */
  click(role: Role, name: RegExp): Promise<void>;
  /** Clicks the middle of the first element that fits. */
  clickAt(selector: string): Promise<void>;
  /** Types into the field of this label. */
  fill(label: string, text: string): Promise<void>;
  /** Chooses an option of the native list with this label. */
  choose(label: string, option: string): Promise<void>;
  /** Waits until the page shows this. */
  sees(text: RegExp): Promise<void>;
  /** Goes on in the window that the last click has opened. */
  followNewWindow(): Promise<void>;
  evaluate<T>(expression: string): Promise<T>;
  /** The window as it is drawn: two are equal where nothing on it differs. */
  picture(): Promise<string>;
  close(): Promise<void>;
}

export interface Engine {
  readonly name: string;
  /** Why it cannot run here; null: it can. */
  readonly missing: string | null;
  /** A window of 1,280 px with nothing stored. */
  open(): Promise<Hands>;
  close(): Promise<void>;
}

/** An answer of a slow machine: a payment, a page and a wallet each take less. */
export const PATIENCE_MS = 60_000;

export async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > end) throw new Error(`Not seen within ${PATIENCE_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
