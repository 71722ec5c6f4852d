import type { Tx } from '#db/database.ts';

/** Lower layers get it as a parameter: see settlement/alarms.ts. */
export type InsertAlarms = (
  tx: Tx,
  livemode: boolean,
  alarms: readonly {
    readonly kind: string;
    readonly subject: string;
    readonly details: { readonly [key: string]: unknown };
  }[],
  now: Date,
) => Promise<void>;
