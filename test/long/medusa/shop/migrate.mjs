// Creates Medusa's tables, in a separate process, because a process that has loaded the migrations
// cannot serve afterwards.
// SHOP_SETTINGS='<json>' node migrate.mjs
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { migrate } = require('@medusajs/medusa/commands/db/migrate');
const { initializeContainer } = require('@medusajs/medusa/loaders/index');

const directory = import.meta.dirname;
const container = await initializeContainer(directory);
const skipped = { skipScripts: true, skipSearch: true };
const logger = container.resolve('logger');
await migrate({ directory, container, logger, ...skipped, executeSafeLinks: true });
process.exit(0);
