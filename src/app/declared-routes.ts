import type { ApiDeps } from '#app/api-dependencies.ts';
import { createSurfaces } from '#app/api-role.ts';
import { createContext } from '#app/create-api-context.ts';
import type { SurfaceRoutes } from '#app/surface-documents.ts';
import { systemClock } from '#core/clock.ts';
import { toIdKey } from '#core/ids.ts';
import { openDatabase } from '#db/database.ts';
import { localWakeups } from '#db/wakeups.ts';
import type { DeclaredRoute } from '#http/route-errors.ts';
import { stderrLog } from '#observability/log.ts';
import { readConfig } from '#settings/config.ts';

/** A placeholder secret: nothing derived from it leaves this process. */
const NO_SECRET = Buffer.alloc(32);
/** A placeholder database URL: declaring routes runs no statement, and so opens no connection. */
const NO_DATABASE = 'postgres://127.0.0.1/none';

/** Returns the dependencies of an API without a database or a chain. */
function unconnected(): ApiDeps {
  return {
    config: readConfig({}, []),
    secret: NO_SECRET,
    idKey: toIdKey(NO_SECRET),
    db: openDatabase({ url: NO_DATABASE, maxConnections: 1 }),
    wakeups: localWakeups(),
    clock: systemClock,
    log: stderrLog(),
    chains: [],
    readiness: {
      of: () => ({ settles: false, reasons: ['no_worker'] }),
      paymentsLeft: () => null,
      shareOf: () => null,
    },
    defaultPass: null,
  };
}

export function declaredRoutes(): SurfaceRoutes {
  const deps = unconnected();
  return createSurfaces(deps, createContext(deps)).routes;
}

export function declaredMerchantRoutes(): readonly DeclaredRoute[] {
  return declaredRoutes().merchant;
}
