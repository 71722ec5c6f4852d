import { UsageError } from './errors.js';
import { List } from './list.js';
import { ask } from './request.js';
export class Resource {
    connection;
    constructor(connection) {
        this.connection = connection;
    }
    call(route, sent, options) {
        return ask(this.connection, () => this.asked(route, sent, false), options);
    }
    keyed(route, sent, options) {
        return ask(this.connection, () => this.asked(route, sent, true), options);
    }
    pages(route, sent, options) {
        return new List((cursor) => {
            const query = cursor === undefined ? sent.query : { ...sent.query, cursor };
            return this.call(route, { ...sent, query }, options);
        });
    }
    asked(route, { ids = [], query, body }, keyed) {
        const [method = '', template = ''] = route.split(' /v1');
        if (template.startsWith('/test_helpers') && this.connection.apiKey.startsWith('tlsk_live')) {
            throw new UsageError('Test helpers play the customer in test mode: use a tlsk_test_… key.');
        }
        const left = [...ids];
        const path = template.replace(/\{(\w+)\}/g, (_, name) => {
            const id = left.shift();
            if (typeof id === 'string' && id !== '')
                return encodeURIComponent(id);
            throw new UsageError(`${name} is missing: ${route} needs it, as text.`, { param: name });
        });
        return { method, path, query, body, keyed };
    }
}
