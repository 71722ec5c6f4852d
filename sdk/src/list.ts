import type { Call } from './call.ts';

/** One page, as the API answers it. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/**
 * A list, newest first. Iterate it and every page is fetched as it is needed; `page` is the first
 * page alone. Nothing is asked before one of the two.
 */
export class List<T, P extends Page<T> = Page<T>> implements AsyncIterable<T> {
  readonly #fetch: (cursor?: string) => Call<P>;
  #first: Call<P> | null = null;

  constructor(fetch: (cursor?: string) => Call<P>) {
    this.#fetch = fetch;
  }

  /** The first page, or that of the `cursor` you gave. */
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
