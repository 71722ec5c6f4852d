import { assert } from '#core/assert.ts';

/**
 * Events are stored, and listed, in the newest shape. An endpoint is pinned to the version it was
 * created with and gets that version's shape, whatever came later.
 */
export const CURRENT_API_VERSION = '2026-09-28';

/**
 * From the newest version back to the oldest: each entry turns the shape of the version above it
 * into its own. A new version adds an entry at the front whose `downgrade` of the entry that was
 * first undoes its changes; nothing else in the service knows old shapes.
 */
interface EventVersion {
  readonly version: string;
  /** The event body in the shape of this version, from that of the next newer one. */
  readonly downgrade: (body: string) => string;
}

const VERSIONS: readonly EventVersion[] = [
  { version: CURRENT_API_VERSION, downgrade: (body) => body },
];

/** The exact bytes that an endpoint pinned to `version` gets for a stored event. */
export function renderEventForVersion(body: string, version: string): string {
  if (version === CURRENT_API_VERSION) return body;
  const last = VERSIONS.findIndex((entry) => entry.version === version);
  assert(last >= 0, `an endpoint is pinned to an unknown version: ${version}`);
  return VERSIONS.slice(0, last + 1).reduce((shape, entry) => entry.downgrade(shape), body);
}
