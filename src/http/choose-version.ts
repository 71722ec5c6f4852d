import { type Refusal, refuse } from '#core/answer.ts';
import { API_VERSIONS, type ApiVersions } from '#core/api-versions.ts';

export const LATEST_API_VERSION: string = API_VERSIONS.latest;

/** Returns the version of a request: its header, otherwise the one to which the key is pinned. */
export function chooseVersion(
  versions: ApiVersions,
  header: string | undefined,
  pinned: string,
): string | Refusal {
  if (header === undefined) return pinned;
  if (versions.all.includes(header)) return header;
  return refuse(
    'api_version_invalid',
    `Service-Version must be one of ${versions.all.join(', ')}; omit it to use the key's ` +
      'version.',
    'Service-Version',
  );
}
