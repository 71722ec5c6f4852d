/** The title and the content of a page, both as HTML. */
export interface FinishedPage {
  readonly title: string;
  readonly body: string;
}

export function fillPage(html: string, { title, body }: FinishedPage): string {
  return html
    .replace(/<title>[^<]*<\/title>/, () => `<title>${title}</title>`)
    .replace('<div id="app"></div>', () => body);
}

/**
 * Serializes a document as JSON for a script element. Escapes it so that it cannot close the
 * element in HTML or XML.
 */
export function dataOf(document: object): string {
  return JSON.stringify(document).replaceAll('<', '\\u003c').replaceAll('&', '\\u0026');
}

/**
 * Returns only the path of the node's URL if the node has the page's own origin, so that the page
 * works under any host name.
 */
export function fromPage(url: string | null, webUrl: string): string | null {
  return url?.startsWith(`${webUrl}/`) === true ? url.slice(webUrl.length + 1) : url;
}
