import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import type { Clock } from '#core/clock.ts';
import type { SurfaceSettings } from '#dashboard/surface.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import type { AnyRoute } from '#http/route.ts';
import type { RefundDeps } from '#refunds/create.ts';
import type { Chain } from '#settlement/chain.ts';

/** What the dashboard's routes need of the process. */
export interface DashboardDeps extends RefundDeps {
  readonly settings: SurfaceSettings;
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly chains: readonly Chain[];
  readonly clock: Clock;
  readonly cursorKey: Buffer;
  /** The merchant API's routes: what both APIs have runs the same handlers. */
  readonly merchantRoutes: readonly AnyRoute<MerchantCaller>[];
}

export const ACCOUNT = '/accounts/{account}';
export const MODE = '/accounts/{account}/{mode}';
