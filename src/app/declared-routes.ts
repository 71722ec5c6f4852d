import { createSurfaces } from '#app/api-role.ts';
import type { ApiDeps } from '#app/api-shared.ts';
import type { SurfaceRoutes } from '#app/surface-documents.ts';
import type { DeclaredRoute } from '#http/route-errors.ts';
import { readConfig } from '#settings/config.ts';

/** Declarations need no working parts; only handlers would, and nobody calls them. */
const NO_PARTS = {
  secret: Buffer.alloc(32),
  chains: [],
  config: readConfig({}, []),
} as unknown as ApiDeps;

/** The routes of every surface as they are declared. */
export function declaredRoutes(): SurfaceRoutes {
  return createSurfaces(NO_PARTS).routes;
}

/** Every route of the merchant API as it is declared. */
export function declaredMerchantRoutes(): readonly DeclaredRoute[] {
  return declaredRoutes().merchant;
}
