/** What a page says of itself, and what stands in it. Both are HTML. */
export interface FinishedPage {
  readonly title: string;
  readonly body: string;
}

/** `html` is the page that the build made, with its styles and script. */
export function fillPage(html: string, { title, body }: FinishedPage): string {
  return html
    .replace(/<title>[^<]*<\/title>/, () => `<title>${title}</title>`)
    .replace('<div id="app"></div>', () => body);
}

/** JSON inside a page: nothing in it ends the element that holds it. */
export function dataOf(document: object): string {
  return JSON.stringify(document).replaceAll('<', '\\u003c');
}

/** A node of the sandbox is asked at the origin that the page came from, whatever its name. */
export function fromPage(url: string | null, webUrl: string): string | null {
  return url?.startsWith(`${webUrl}/`) === true ? url.slice(webUrl.length + 1) : url;
}
