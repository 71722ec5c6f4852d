import type { Json } from '#core/canonical-json.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import { limitFrom } from '#core/shop-limit.ts';
import { limitsObject } from '#terminals/offline-limits.ts';
import { type TagPlace, tagUrl } from '#terminals/tag-url.ts';
import type { TerminalRow } from '#terminals/terminal-queries.ts';

/** Renders the limit of refunds while nobody is signed in. */
export function refundLimitOf(row: Pick<TerminalRow, 'refund_limit' | 'refund_limit_presentment'>) {
  const { refund_limit: atoms, refund_limit_presentment: stored } = row;
  if (atoms === null) return { refund_limit: null, refund_limit_presentment: null };
  const { inShop } = limitFrom(atoms, stored);
  return {
    refund_limit: toJsonAtoms(atoms),
    refund_limit_presentment: inShop === null ? null : { ...inShop },
  };
}

/** Renders the terminal object of behavior.md 14. */
export function terminalObject(row: Omit<TerminalRow, 'version' | 'tag' | 'smart_tap'>): {
  [key: string]: Json;
} {
  return {
    id: row.id,
    object: 'terminal',
    livemode: row.livemode,
    network: networkOf(row.livemode),
    label: row.label,
    name: row.name,
    platform: row.platform,
    software_version: row.software_version,
    status: row.status,
    location: row.location_id,
    offline: limitsObject(row.offline),
    ...refundLimitOf(row),
    last_seen_at: row.last_seen_at?.toISOString() ?? null,
    created: row.created.toISOString(),
  };
}

/**
 * Renders the terminal for its merchant's users: with the version that an edit names, and the tag's
 * address.
 */
export function managedTerminal(tag: TagPlace, row: TerminalRow): { [key: string]: Json } {
  const { smart_tap, version } = row;
  return { ...terminalObject(row), tag_url: tagUrl(tag, row), smart_tap, version };
}
