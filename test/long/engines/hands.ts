import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';

export type Role = 'button' | 'link' | 'radio' | 'switch';

/** A user's actions in a browser, independent of its driver. */
export interface Hands {
  goto(url: string): Promise<void>;
  /**
   * Opens the later pages in a new window of this locale. Returns `false` if the driver cannot.
   */
  useLocale(locale: string): Promise<boolean>;
  /** Sets the window's width. Returns `false` if the driver's window cannot be so narrow. */
  resize(width: number): Promise<boolean>;
  /**
   * Clicks at the position of the control with this name, so an element that covers it gets the
   * click.
   */
  click(role: Role, name: RegExp): Promise<void>;
  /** Clicks the middle of the first matching element. */
  clickAt(selector: string): Promise<void>;
  /** Types into the field with this label, which may end with a currency: `Amount (USDC)`. */
  fill(label: string, text: string): Promise<void>;
  /** Chooses an option of the native select with this label. */
  choose(label: string, option: string): Promise<void>;
  /** Waits until the page shows this text. */
  sees(text: RegExp): Promise<void>;
  /** Continues in the window that the last click opened. */
  followNewWindow(): Promise<void>;
  evaluate<T>(expression: string): Promise<T>;
  /** Takes a screenshot. Two are equal if the screens look the same. */
  picture(): Promise<string>;
  close(): Promise<void>;
}

export interface Engine {
  readonly name: string;
  /** The reason why this browser cannot run here, or `null`. */
  readonly missing: string | null;
  /** Opens a window of 1,280 px without stored data. */
  open(): Promise<Hands>;
  close(): Promise<void>;
}

/** Maximum response time of a slow machine for a payment, a page or a wallet. */
export const TIMEOUT_MS = 60_000;

/** Matches a field's label, with or without the currency of a sum. */
export const labelOf = (label: string) => new RegExp(`^${label}( \\([A-Z]{3,4}\\))?$`);

export const until = <T>(what: string, look: () => Promise<T | null>) =>
  eventually(what, look, TIMEOUT_MS);
