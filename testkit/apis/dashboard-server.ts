import { dashboardRoutes } from '#apis/dashboard/dashboard-routes.ts';
import type { PersonRoute } from '#apis/dashboard/person-route.ts';
import { personSurface } from '#apis/dashboard/person-surface.ts';
import type { operatorRoutes } from '#apis/operator/operator-routes.ts';
import type { ApiDeps } from '#app/api-dependencies.ts';
import { createContext } from '#app/create-api-context.ts';
import { merchantSurface } from '#app/merchant-surface.ts';
import { ALONE } from '#cells/ask-other-cells.ts';
import { anySurface } from '#http/route.ts';
import { silentLog } from '#observability/log.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import {
  type PeopleServer,
  type PeopleServerOptions,
  startPeopleServer,
} from '#testkit/apis/people-server.ts';
import type { TestDatabase } from '#testkit/fixtures/db/database.ts';
import { TEST_GAS, TEST_ID_KEY } from '#testkit/fixtures/payments/store.ts';
import { settling } from '#testkit/fixtures/settlement/settling.ts';

export interface DashboardServer extends PeopleServer {
  readonly merchantApi: string;
  readonly dashboardRoutes: readonly PersonRoute[];
  readonly operatorRoutes: readonly PersonRoute[];
}

export interface DashboardServerOptions extends PeopleServerOptions {
  /**
   * `operatorRoutes` of `#apis/operator/operator-routes.ts`, in a test that calls the operator API,
   * and so depends on all of it. Default: the server has no operator API.
   */
  readonly operatorRoutes?: typeof operatorRoutes;
  /** An existing database, which stays open when the server is closed. */
  readonly database?: TestDatabase;
}

/** Starts a server with all routes of the merchant API and the dashboard API. */
export async function startDashboardServer(
  chains: readonly Chain[] = [],
  { operatorRoutes: routesOfStaff, database, ...options }: DashboardServerOptions = {},
): Promise<DashboardServer> {
  const seen: Pick<DashboardServer, 'dashboardRoutes' | 'operatorRoutes'>[] = [];
  const server = await startPeopleServer(
    ({ people, merchant, operator, secretKey, clock }) => {
      const { db, wakeups } = people;
      const config = {
        webhookAllowCidrs: [],
        publicUrl: null,
        port: 4242,
        cells: ALONE,
        gas: TEST_GAS,
      } as unknown as ApiDeps['config'];
      const keys = { secret: secretKey, idKey: TEST_ID_KEY };
      const parts = { ...keys, config, db, wakeups, clock, log: silentLog, chains };
      const built = createContext({ ...parts, readiness: settling, defaultPass: null });
      const ctx = {
        ...built,
        keys: { ...built.keys, people: secretKey },
        pages: { ...built.pages, webUrl: () => people.webUrl },
        people: { merchant: people, operator: people },
      };
      const api = merchantSurface(ctx);
      const routes = { settings: merchant, merchantRoutes: api.routes };
      const dashboard = dashboardRoutes(ctx, routes);
      const configuration = () => ({ port: 0 });
      const staff = routesOfStaff?.(ctx, { settings: operator, configuration }) ?? [];
      seen.push({ dashboardRoutes: dashboard, operatorRoutes: staff });
      return [
        personSurface(merchant, dashboard),
        ...(staff.length > 0 ? [personSurface(operator, staff)] : []),
        anySurface(api),
      ];
    },
    database && { ...database, close: async () => {} },
    options,
  );
  const [routes = { dashboardRoutes: [], operatorRoutes: [] }] = seen;
  return { ...server, ...routes, merchantApi: server.dashboard.replace('/dashboard', '') };
}
