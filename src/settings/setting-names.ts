import type { Network } from '#core/mode.ts';
import { NETWORKS } from '#core/mode.ts';
import { StartError } from '#core/start-error.ts';
import { RULE_SETTINGS } from '#settings/chain-rules.ts';
import { CHAIN_SECTIONS } from '#settings/chain-setting-table.ts';
import { GENERAL_SECTIONS, type SettingRow } from '#settings/setting-table.ts';

type RowName<Section extends { readonly rows: readonly SettingRow[] }> =
  Section['rows'][number]['name'];
type ChainSetting = RowName<(typeof CHAIN_SECTIONS)[number]>;

const CHAIN_SETTINGS: readonly ChainSetting[] = CHAIN_SECTIONS.flatMap(({ rows }) =>
  rows.map(({ name }) => name),
);

/**
 * Settings that make a network external. All other chain settings also apply to an embedded chain.
 */
export const EXTERNAL_SETTINGS: readonly ChainSetting[] = CHAIN_SETTINGS.filter(
  (setting) => !RULE_SETTINGS.some((rule) => rule === setting),
);

export type ChainPrefix = `CHAIN_${Uppercase<Network>}_`;
export type SettingName =
  | RowName<(typeof GENERAL_SECTIONS)[number]>
  | `${ChainPrefix}${ChainSetting}`;

export type Env = Readonly<Record<string, string | undefined>>;

export function chainPrefix(network: Network): ChainPrefix {
  return `CHAIN_${network.toUpperCase() as Uppercase<Network>}_`;
}

/** Every setting that a start reads. */
export const SETTING_NAMES: readonly SettingName[] = [
  ...GENERAL_SECTIONS.flatMap(({ rows }) => rows.map(({ name }) => name)),
  ...NETWORKS.flatMap((network) =>
    CHAIN_SETTINGS.map((setting): SettingName => `${chainPrefix(network)}${setting}`),
  ),
];

/** Variables for tests and failpoints, which a start does not read. */
const TEST_NAMES = [
  'TAPLINE_FAILPOINT',
  'TAPLINE_TEST_BROWSER',
  'TAPLINE_TEST_DATABASE_URL',
  'TAPLINE_TEST_SANDBOX',
];

/** Variables for clients, which may run in the same shell as the sandbox. */
const CLIENT_NAMES = ['TAPLINE_API_KEY', 'TAPLINE_BASE_URL'];

const KNOWN: ReadonlySet<string> = new Set([...SETTING_NAMES, ...TEST_NAMES, ...CLIENT_NAMES]);
/** Prefixes that only Tapline uses. */
const OWN_PREFIX = /^(TAPLINE|CHAIN|WEBHOOK)_/;
/**
 * Matches variables that Kubernetes sets in every pod for each Service, named after the Service.
 */
const SERVICE = /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
const SERVICE_PORT = /_PORT$/;
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\//;
/**
 * Shorter names are suspicious only at a distance of one edit, because two edits reach ordinary
 * names: HOME and HOST.
 */
const TWO_EDITS_FROM_LENGTH = 6;
/** Ordinary variables that resemble a setting by chance. */
const ORDINARY: ReadonlySet<string> = new Set([
  'API_PORT',
  'APP_PORT',
  'HOSTS',
  'PORTS',
  'POST',
  'WS_PORT',
]);

/** True if Kubernetes has set the variable for a Service whose name happens to match a setting. */
export function isOfService(name: string, value: string | undefined): boolean {
  return SERVICE.test(name) || (SERVICE_PORT.test(name) && SERVICE_ADDRESS.test(value ?? ''));
}

/**
 * Returns the edit distance: insertions, deletions, replacements, and swaps of neighbors (optimal
 * string alignment).
 */
function editsBetween(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced, swapped));
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}

/** Names from before the first release. The error message for an old name gives the new one. */
const RENAMED: ReadonlyMap<string, SettingName> = new Map([
  ['SETTLE_WITHIN', 'SETTLEMENT_TIMEOUT_SECONDS'],
  ['CEILING_SHARE', 'MAX_ACCOUNT_SHARE_PERCENT'],
  ['STATIC_PASS', 'STATIC_PASS_CONFIRM_FROM'],
  ...NETWORKS.map(chainPrefix).flatMap((prefix): [string, SettingName][] => [
    [`${prefix}COUNTS_FROM`, `${prefix}CONFIRMATION_TIERS`],
    [`${prefix}HEADS_URL`, `${prefix}WS_URL`],
    [`${prefix}FORMER_SETTLEMENTS`, `${prefix}PREVIOUS_CONTRACTS`],
    [`${prefix}WATCH_KEY`, `${prefix}WATCHER_KEY`],
    [`${prefix}WATCH_PAUSE_FROM`, `${prefix}WATCHER_PAUSE_FROM`],
  ]),
]);

/** Returns the setting that the operator probably meant; `null` if none is similar. */
function meantBy(name: string): SettingName | null {
  if (ORDINARY.has(name)) return null;
  const allowed = (known: string) => (known.length < TWO_EDITS_FROM_LENGTH ? 1 : 2);
  const near = SETTING_NAMES.map((known) => ({ known, edits: editsBetween(name, known) }))
    .filter(({ known, edits }) => edits <= allowed(known))
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.known ?? null;
}

/** Refuses old names and names that look like typing errors. @throws StartError */
export function refuseUnknown(env: Env): void {
  for (const [name, value] of Object.entries(env)) {
    if (KNOWN.has(name) || isOfService(name, value)) continue;
    const renamed = RENAMED.get(name);
    if (renamed !== undefined)
      throw new StartError(`${name} is not a setting of Tapline: it is now called ${renamed}`);
    const meant = meantBy(name);
    if (meant === null && !OWN_PREFIX.test(name)) continue;
    const hint = meant === null ? 'docs/settings.md lists them' : `is ${meant} meant?`;
    throw new StartError(`${name} is not a setting of Tapline: ${hint}`);
  }
}
