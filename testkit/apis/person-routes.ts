import type { PersonRoute } from '#apis/dashboard/person-route.ts';
import { type IdKind, newId } from '#core/ids.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';

export type PathValues = Readonly<Record<string, string>>;

/** Returns a route's path. Ids that are not given have the right format, but name no object. */
export function pathOf(route: PersonRoute, values: PathValues, now: Date): string {
  return route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const kind = route.params?.[name] ?? 'text';
    return values[name] ?? (kind === 'text' ? 'nothing' : newId(kind as IdKind, now));
  });
}

/** Calls a route without the fields that it needs. */
export function callRoute(client: PersonClient, route: PersonRoute, path: string) {
  const isUpload = route.upload !== undefined;
  const body = isUpload ? Buffer.from('%PDF-1.7') : route.method === 'GET' ? undefined : {};
  const type = isUpload ? { 'Content-Type': 'application/pdf' } : {};
  return client.send(route.method, path, body, { 'Idempotency-Key': 'any', ...type });
}
