/**
 * Finds lines that no Japanese printer would set: in a button or table head, a line of one letter;
 * a line that begins with a mark or a small kana; a sum whose unit is on another line. Code as a
 * string, because the types of the server's tests have no `document`.
 */
export const BAD_LINES = `(() => {
  const found = [];
  // Only browsers that find phrases keep a line from beginning with this particle.
  const particle = CSS.supports('word-break', 'auto-phrase') ? 'を' : '';
  const marks = '、。ー」』）・！？ぁぃぅぇぉっゃゅょァィゥェォッャュョ';
  const begins = new RegExp('^[' + particle + marks + ']', 'u');
  const linesOf = (element) => {
    const lines = [];
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      if (!text.parentElement.checkVisibility() || text.parentElement.closest('.unseen')) continue;
      for (let at = 0; at < text.data.length; at++) {
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        // WebKit adds an empty box at the end of the line before.
        const box = [...range.getClientRects()].find(({ width }) => width > 0);
        if (box === undefined) continue;
        const last = lines.at(-1);
        const isSame = last !== undefined && box.top < last.bottom - 2 && box.bottom > last.top + 2;
        if (isSame) {
          last.text += text.data[at];
          Object.assign(last, { bottom: box.bottom, top: box.top });
        }
        else lines.push({ text: text.data[at], top: box.top, bottom: box.bottom });
      }
    }
    return lines.map((line) => line.text.trim()).filter((text) => text !== '');
  };
  const holders = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const holder = text.parentElement.closest(
      'button, a, th, td, p, li, dt, dd, h1, h2, h3, label, legend, span',
    );
    const isUnseen = text.parentElement.closest('script, style, textarea, option') !== null;
    if (holder !== null && !isUnseen) holders.add(holder);
  }
  for (const holder of holders) {
    if (!holder.checkVisibility() || getComputedStyle(holder).display === 'contents') continue;
    const lines = linesOf(holder);
    const shown = lines.join(' / ');
    const isLabel = holder.closest('button, .button, th') !== null;
    const isOneLetter = (line) => /^[\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}]$/u.test(line);
    if (isLabel && lines.length > 1 && lines.some(isOneLetter)) {
      found.push('one letter: ' + shown);
    }
    if (lines.slice(1).some((line) => begins.test(line))) {
      found.push('begins: ' + shown);
    }
  }
  for (const sum of document.querySelectorAll('.amount, bdi, [translate="no"]')) {
    const isSum = /^[^\\d]{0,4}[\\d.,]+[\\s\\u00a0]*(USDC|\\p{Sc}|[A-Z]{3})?$/u;
    if (!isSum.test(sum.textContent.trim())) continue;
    const lines = sum.checkVisibility() ? linesOf(sum) : [];
    if (lines.length > 1) found.push('sum: ' + lines.join(' / '));
  }
  return found;
})()`;
