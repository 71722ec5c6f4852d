import type { Call } from './call-promise.ts';

/** One page, as the API returns it. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/**
 * A list, newest first. Iterating it fetches every page as needed; `page` is only the first one. No
 * request is sent until the list is iterated or `page` is read.
 */
export class List<T, P extends Page<T> = Page<T>> implements AsyncIterable<T> {
  readonly #fetch: (cursor?: string) => Call<P>;
  #first: Call<P> | null = null;

  constructor(fetch: (cursor?: string) => Call<P>) {
    this.#fetch = fetch;
  }

  /** The first page, or the page at the given `cursor`. */
  get page(): Call<P> {
    this.#first ??= this.#fetch();
    return this.#first;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let page: Page<T> = await this.#fetch();
    for (;;) {
      yield* page.data;
      if (!page.has_more || page.next_cursor === null) return;
      page = await this.#fetch(page.next_cursor);
    }
  }
}
