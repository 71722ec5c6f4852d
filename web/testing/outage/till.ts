import type { HeldSale } from '../../terminal/offline/held-sales.ts';
import type { TestTerminal } from '../till.ts';

/** A till of the run. Its calls fail while it is killed. */
export interface OutageTill {
  readonly terminal: TestTerminal;
  /** Time from one sale to the next. */
  readonly paceMs: number;
  /** Charges this many atoms. @returns the request for the customer. */
  request(amount: number): Promise<string>;
  /**
   * Passes the customer's answer to the till. Resolves once the till reports that it has accepted
   * the sale.
   */
  answer(text: string): Promise<void>;
  /** Kills the till with SIGKILL and starts it again, with its stored sales. */
  restart(): Promise<void>;
  sales(): Promise<readonly HeldSale[]>;
  close(): Promise<void>;
}
