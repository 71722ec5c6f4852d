import { assert } from './assert.ts';
import type { Json } from './canonical-json.ts';

type JsonObject = { [key: string]: Json };
type Rewrite = (values: JsonObject) => JsonObject;

/**
 * One breaking change (behavior.md 18.3), in a file named after the dated version that introduces
 * it. The service itself uses only the newest shapes; each change converts requests and responses
 * for callers on older versions.
 */
export interface VersionChange {
  /** The first version that has the change, `YYYY-MM-DD`. */
  readonly version: string;
  /** A description of the change, for the reference. */
  readonly summary: string;
  /** By operationId: upgrades the body or query of an older client to the new shape. */
  readonly upgradeRequest?: Readonly<Record<string, Rewrite>>;
  /** By the `object` field: downgrades an object, anywhere in a response, to the older shape. */
  readonly downgradeObject?: Readonly<Record<string, Rewrite>>;
}

export interface ApiVersions {
  /** Oldest first. */
  readonly all: readonly string[];
  readonly latest: string;
  /** Upgrades a request from version `from` to the newest shape. */
  upgradeRequest(operationId: string, values: JsonObject, from: string): JsonObject;
  /** Downgrades the text of a response or event from the newest shape to version `to`. */
  downgrade(text: string, to: string): string;
}

function inOlderShape(value: Json, changes: readonly VersionChange[], to: string): Json {
  if (Array.isArray(value)) return value.map((item) => inOlderShape(item, changes, to));
  if (value === null || typeof value !== 'object') return value;
  let object: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    object[name] = inOlderShape(member, changes, to);
  }
  const kind = String(object.object);
  for (const change of changes) object = change.downgradeObject?.[kind]?.(object) ?? object;
  return kind === 'event' && 'api_version' in object ? { ...object, api_version: to } : object;
}

/** @param changes oldest first. Each introduces a newer version than the one before it. */
export function defineVersions(first: string, changes: readonly VersionChange[]): ApiVersions {
  const all = [...new Set([first, ...changes.map((change) => change.version)])];
  assert(all.join() === all.toSorted().join(), 'dated versions must be in ascending order');
  const latest = all.at(-1) ?? first;
  const since = (version: string) => {
    assert(all.includes(version), `unknown version: ${version}`);
    return changes.filter((change) => change.version > version);
  };
  return {
    all,
    latest,
    upgradeRequest: (operationId, values, from) =>
      since(from).reduce(
        (shape, change) => change.upgradeRequest?.[operationId]?.(shape) ?? shape,
        values,
      ),
    downgrade: (text, to) => {
      if (to === latest) return text;
      return JSON.stringify(inOlderShape(JSON.parse(text), since(to).toReversed(), to));
    },
  };
}

/**
 * The only version so far. A breaking change adds a file and an entry in this list, and nothing
 * else.
 */
export const API_VERSIONS: ApiVersions = defineVersions('2026-09-28', []);
