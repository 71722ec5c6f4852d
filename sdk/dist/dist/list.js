export class List {
    #fetch;
    #first = null;
    constructor(fetch) {
        this.#fetch = fetch;
    }
    get page() {
        this.#first ??= this.#fetch();
        return this.#first;
    }
    async *[Symbol.asyncIterator]() {
        let page = await this.#fetch();
        for (;;) {
            yield* page.data;
            if (!page.has_more || page.next_cursor === null)
                return;
            page = await this.#fetch(page.next_cursor);
        }
    }
}
