import { API_VERSIONS } from '#core/api-versions.ts';

/**
 * Events are stored, and listed, in the newest shape. An endpoint is pinned to the version it was
 * created with and gets that version's shape, whatever came later.
 */
export const CURRENT_API_VERSION: string = API_VERSIONS.latest;

/**
 * The exact bytes that an endpoint pinned to `version` gets for a stored event.
 * @throws Bug for a version that there never was.
 */
export function renderEventForVersion(body: string, version: string): string {
  return API_VERSIONS.downgrade(body, version);
}
