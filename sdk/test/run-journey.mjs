// node run-journey.mjs <baseUrl> <apiKey> <terminal>: the journey in the runtime that executes this
// file.
import * as sdk from '../dist/index.js';
import * as webhooks from '../dist/webhooks.js';
import { journey } from './journey.mjs';

const [baseUrl, apiKey, terminal] = process.argv.slice(2);
console.log(JSON.stringify(await journey(sdk, webhooks, { baseUrl, apiKey, terminal })));
