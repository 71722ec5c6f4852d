/**
 * A token of PostgreSQL's lexer, as far as it decides where a comment begins: in a string, a quoted
 * identifier or a dollar-quoted body, `--` is text. An unclosed token extends to the end.
 */
const TOKEN = new RegExp(
  [
    String.raw`(?<space>\s+|--[^\n\r]*)`,
    String.raw`(?<block>/\*)`,
    String.raw`(?<escapes>[eE]'(?:[^'\\]|\\[\s\S]|'')*'?)`,
    `'(?:[^']|'')*'?`,
    `"(?:[^"]|"")*"?`,
    // A dollar sign inside an identifier quotes nothing, so identifiers are tokens, too.
    String.raw`[\p{L}_][\p{L}\p{N}_$]*`,
    String.raw`(?<dollars>\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$)[^]*?(?:\k<dollars>|$)`,
    '[^]',
  ].join('|'),
  'uy',
);
const CONTINUED = /'(?:[^'\\]|\\[\s\S]|'')*'?/y;
const BLOCK_EDGE = /\/\*|\*\//g;

/** Returns the index after a block comment, which may contain others. */
function endOfBlock(sql: string, start: number): number {
  BLOCK_EDGE.lastIndex = start;
  for (let depth = 0; ; ) {
    const edge = BLOCK_EDGE.exec(sql);
    if (edge === null) return sql.length;
    depth += edge[0] === '/*' ? 1 : -1;
    if (depth === 0) return BLOCK_EDGE.lastIndex;
  }
}

/**
 * Removes the comments of a file of statements. Comments and white space between two tokens become
 * one line break or one space, so that a comment may be rewrapped, added or removed.
 */
export function withoutComments(sql: string): string {
  let result = '';
  let gap = '';
  // After an escape string, a line break and a quote continue it, with escapes.
  let isEscaped = false;
  for (let at = 0; at < sql.length; ) {
    const isContinued: boolean = isEscaped && gap === '\n' && sql[at] === "'";
    const pattern: RegExp = isContinued ? CONTINUED : TOKEN;
    pattern.lastIndex = at;
    const token: RegExpExecArray | null = pattern.exec(sql);
    const { space, block, escapes } = token?.groups ?? {};
    const end = block === undefined ? at + (token?.[0].length ?? 1) : endOfBlock(sql, at);
    if (space !== undefined || block !== undefined) {
      gap = gap === '\n' || /[\n\r]/.test(space ?? '') ? '\n' : ' ';
    } else {
      result += (result === '' ? '' : gap) + sql.slice(at, end);
      gap = '';
      isEscaped = escapes !== undefined || isContinued;
    }
    at = end;
  }
  return result;
}
