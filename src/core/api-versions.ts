import { assert } from './assert.ts';
import type { Json } from './canonical-json.ts';

type JsonObject = { [key: string]: Json };
type Rewrite = (values: JsonObject) => JsonObject;

/**
 * One breaking change (behavior.md 18.3), in a file of its own named after the dated version
 * that brings it. The service itself knows the newest shapes only; a change says how callers of
 * older versions are served.
 */
export interface VersionChange {
  /** The first version that has the change, `YYYY-MM-DD`. */
  readonly version: string;
  /** What changed, for the reference. */
  readonly summary: string;
  /** By operationId: the new shape of a body or query that an older client has sent. */
  readonly upgradeRequest?: Readonly<Record<string, Rewrite>>;
  /** By the `object` field: the older shape of an object, wherever it stands in a response. */
  readonly downgradeObject?: Readonly<Record<string, Rewrite>>;
}

export interface ApiVersions {
  /** Oldest first. */
  readonly all: readonly string[];
  readonly latest: string;
  /** A request of a caller on version `from` in the newest shape. */
  upgradeRequest(operationId: string, values: JsonObject, from: string): JsonObject;
  /** The text of a response or event, written in the newest shape, as version `to` has it. */
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

/** @param changes oldest first; each begins a version that is newer than `first`. */
export function defineVersions(first: string, changes: readonly VersionChange[]): ApiVersions {
  const all = [...new Set([first, ...changes.map((change) => change.version)])];
  assert(all.join() === all.toSorted().join(), 'dated versions must rise');
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

/** The only version so far. A breaking change adds its file to this list and to nothing else. */
export const API_VERSIONS: ApiVersions = defineVersions('2026-09-28', []);
