import assert from 'node:assert/strict';
import { checkDocumented } from '#testkit/apis/documented.ts';

export interface PersonAnswer {
  readonly status: number;
  readonly body: Record<string, unknown> & {
    readonly error?: { readonly code: string; readonly message: string; readonly param: unknown };
  };
  readonly text: string;
  readonly headers: Headers;
}

/** An entry of an account's or the network's audit log. */
export interface AuditEntry {
  readonly action: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly object_id: string | null;
}

/** Acts like a browser on one of the service's pages: keeps cookies and sends the CSRF token. */
export class PersonClient {
  readonly #root: string;
  readonly #ofThisRelease: boolean;
  readonly cookies = new Map<string, string>();
  csrfToken: string | null = null;
  /** Headers to send with every request, such as another Origin. */
  extraHeaders: Record<string, string> = {};

  /** Checks responses as `caller` does. */
  constructor(root: string, { ofThisRelease = true }: { readonly ofThisRelease?: boolean } = {}) {
    this.#root = root;
    this.#ofThisRelease = ofThisRelease;
  }

  get(path: string): Promise<PersonAnswer> {
    return this.send('GET', path);
  }

  /** Reads a page of a list. Fails if the request is refused. */
  async list<Row>(path: string): Promise<readonly Row[]> {
    const { status, body, text } = await this.get(path);
    assert.equal(status, 200, text);
    return body.data as readonly Row[];
  }

  post(path: string, body: object = {}, headers: Record<string, string> = {}) {
    return this.send('POST', path, body, headers);
  }

  patch(path: string, body: object): Promise<PersonAnswer> {
    return this.send('PATCH', path, body);
  }

  delete(path: string): Promise<PersonAnswer> {
    return this.send('DELETE', path);
  }

  async send(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<PersonAnswer> {
    const isBytes = body instanceof Uint8Array;
    const response = await fetch(`${this.#root}${path}`, {
      method,
      headers: {
        ...this.#ownHeaders(),
        ...(body === undefined || isBytes ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isBytes ? body.slice() : JSON.stringify(body) }),
    });
    this.#keepCookies(response.headers);
    const type = response.headers.get('content-type') ?? '';
    // Does not wait for the end of a feed's body, because it never ends.
    const isFeed = type.startsWith('text/event-stream');
    const text = isFeed ? '' : await response.text();
    if (isFeed) await response.body?.cancel();
    const isJson = /^application\/json(;|$)/.test(type);
    const { status, headers: answered, url } = response;
    if (isJson && this.#ofThisRelease)
      checkDocumented({ method, url, status, headers: answered, text });
    const parsed = (isJson ? JSON.parse(text) : {}) as PersonAnswer['body'];
    if (typeof parsed.csrf_token === 'string') this.csrfToken = parsed.csrf_token;
    return { status: response.status, body: parsed, text, headers: response.headers };
  }

  headers(): Record<string, string> {
    return this.#ownHeaders();
  }

  #ownHeaders(): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return {
      ...(cookie === '' ? {} : { Cookie: cookie }),
      ...(this.csrfToken === null ? {} : { 'Csrf-Token': this.csrfToken }),
      ...this.extraHeaders,
    };
  }

  #keepCookies(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const [name = '', value = ''] = pair.split('=');
      if (/max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}
