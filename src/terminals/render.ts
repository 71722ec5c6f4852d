import type { Json } from '#core/canonical-json.ts';
import { networkOf } from '#core/mode.ts';
import { limitsObject } from '#terminals/offline-limits.ts';
import { type TagPlace, tagUrl } from '#terminals/tag-url.ts';
import type { TerminalRow } from '#terminals/terminal-queries.ts';

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
