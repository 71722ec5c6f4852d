export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * Writes equal values as equal text: keys sorted by code unit, no white space, numbers as
 * JavaScript prints them. This way, two bodies with the same meaning have the same idempotency
 * fingerprint.
 */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${members.join(',')}}`;
}
