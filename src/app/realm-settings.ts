import { signInElsewhere } from '#apis/cells/sign-in-elsewhere.ts';
import { surfaceSettings } from '#apis/dashboard/person-surface-settings.ts';
import type { ApiDeps } from '#app/api-dependencies.ts';
import type { Realm } from '#people/user-queries.ts';
import { peopleKey } from '#settings/config.ts';

function realmSettings(deps: ApiDeps, realm: Realm) {
  const { config, db, wakeups } = deps;
  const { port } = config;
  const publicUrl = (realm === 'operator' ? config.operatorUrl : null) ?? config.publicUrl;
  // Outside production, a network guards no real money, even with an external chain.
  const isSandbox = !config.production;
  const secretKey = peopleKey(deps.secret);
  const people = { db, wakeups, secretKey, publicUrl, port, isSandbox };
  const settings = surfaceSettings(people, realm);
  const { cells } = config;
  if (cells.others.length === 0) return settings;
  return { ...settings, elsewhere: signInElsewhere(cells) };
}

export function settingsOfRealms(deps: ApiDeps) {
  return { merchant: realmSettings(deps, 'merchant'), operator: realmSettings(deps, 'operator') };
}
