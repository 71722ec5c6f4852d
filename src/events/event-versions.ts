import { API_VERSIONS } from '#core/api-versions.ts';

/**
 * Events are stored, and listed, in the newest shape. An endpoint is pinned to the version that it
 * was created with, and keeps getting that version's shape.
 */
export const CURRENT_API_VERSION: string = API_VERSIONS.latest;

/**
 * Returns the exact bytes of a stored event for an endpoint pinned to `version`.
 * @throws Bug for an unknown version.
 */
export function renderEventForVersion(body: string, version: string): string {
  return API_VERSIONS.downgrade(body, version);
}
