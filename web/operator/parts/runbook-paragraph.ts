/** Returns the runbook's section for an alarm as plain text, or `null` if there is none. */
export function paragraphOf(guide: string, kind: string): string | null {
  const [, rest] = guide.split(`\n### ${kind}\n`);
  if (rest === undefined) return null;
  const [own = ''] = rest.split(/\n#{2,3} /);
  return own.replaceAll('`', '').replaceAll(/\s+/g, ' ').trim();
}
