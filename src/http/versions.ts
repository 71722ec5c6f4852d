import { type Refusal, refuse } from '#core/refusal.ts';

/** Dated versions inside /v1, oldest first (api-v1.md section 9). */
export const API_VERSIONS = ['2026-09-28'] as const;

export const LATEST_API_VERSION: string = API_VERSIONS[API_VERSIONS.length - 1] ?? '2026-09-28';

/** The version of a request: its header, else the one that the key is pinned to. */
export function chooseVersion(header: string | undefined, pinned: string): string | Refusal {
  if (header === undefined) return pinned;
  if (API_VERSIONS.some((version) => version === header)) return header;
  return refuse(
    'api_version_invalid',
    `Service-Version must be one of ${API_VERSIONS.join(', ')}; without it the key's own version is used.`,
    'Service-Version',
  );
}
