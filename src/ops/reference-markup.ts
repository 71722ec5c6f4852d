/** Text that is safe inside HTML, attributes included. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** The little Markdown that declarations use: paragraphs, `code` and **bold**. */
export function proseHtml(text: string): string {
  return text
    .split('\n\n')
    .map((paragraph) => `<p>${inlineHtml(paragraph)}</p>`)
    .join('\n');
}

export function inlineHtml(text: string): string {
  return escapeHtml(text)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
}

/** `Payment intents` → `payment-intents`. */
export function slug(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

export function codeBlock(text: string, label: string): string {
  return `<figure class="code"><figcaption>${escapeHtml(label)}</figcaption>
<pre tabindex="0"><code>${escapeHtml(text)}</code></pre></figure>`;
}
