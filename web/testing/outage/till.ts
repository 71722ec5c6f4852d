import type { HeldSale } from '../../terminal/offline/held-sales.ts';
import type { TestTerminal } from '../till.ts';

/** A till of the run. Calls fail while it is killed. */
export interface OutageTill {
  readonly terminal: TestTerminal;
  /** Time from one sale to the next. */
  readonly paceMs: number;
  /** Charges this many atoms. @returns the request for the customer. */
  request(amount: number): Promise<string>;
  /** Gives it the customer's answer. Resolves once the till says that it has accepted the sale. */
  answer(text: string): Promise<void>;
  /** Ends it with SIGKILL and starts it again, with what it has stored. */
  restart(): Promise<void>;
  /** Returns what it stores. */
  sales(): Promise<readonly HeldSale[]>;
  close(): Promise<void>;
}
