import { type ApiDeps, createShared, merchantSurface } from '#api-role.ts';
import { readConfig } from '#config.ts';
import type { DeclaredRoute } from '#http/route-errors.ts';

/** Declarations need no working parts; only handlers would, and nobody calls them. */
const NO_PARTS = {
  secret: Buffer.alloc(32),
  chains: [],
  config: readConfig({}, []),
} as unknown as ApiDeps;

/** Every route of the merchant API as it is declared. */
export function declaredMerchantRoutes(): readonly DeclaredRoute[] {
  return merchantSurface(createShared(NO_PARTS)).routes;
}
