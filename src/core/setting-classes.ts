import { canonicalJson, type Json } from '#core/canonical-json.ts';

/**
 * The effect of changing a setting. In a live account it determines the proof and the mail:
 * - `outward`: sends data or receipts to an address, or lifts a limit. The change needs a fresh
 * factor, and the owners get a mail.
 * - `printed`: appears on receipts, or changes what customers are charged. The owners get a mail.
 * - `inner`: neither.
 * - `own`: the handler has its own rule.
 */
export type SettingClass = 'outward' | 'printed' | 'inner' | 'own';

/** The class of each field that a route's body can set, beside `version`. */
export type SettingClasses = Readonly<Record<string, SettingClass>>;

/** The classes whose changes are mailed to the owners. */
export const MAILED_CLASSES = ['outward', 'printed'] as const;
export type MailedClass = (typeof MAILED_CLASSES)[number];

type Values = { readonly [field: string]: Json } | null;

/** Returns the names of the fields whose values differ. A missing field counts as null. */
export function changedFields(before: Values, after: Values): string[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const valueIn = (values: Values, name: string) => canonicalJson(values?.[name] ?? null);
  return [...names].filter((name) => valueIn(before, name) !== valueIn(after, name));
}
