/** What stands below the heading of an alarm in the guide, as plain text; null: it has none. */
export function paragraphOf(guide: string, kind: string): string | null {
  const [, rest] = guide.split(`\n### ${kind}\n`);
  if (rest === undefined) return null;
  const [own = ''] = rest.split(/\n#{2,3} /);
  return own.replaceAll('`', '').replaceAll(/\s+/g, ' ').trim();
}
