// Every Medusa process reads this file, so settings come from the environment.
import { defineConfig } from '@medusajs/framework/utils';

const { databaseUrl, ...options } = JSON.parse(process.env.SHOP_SETTINGS);
/** Secrets of a shop that lives for a minute. */
const SECRETS = { jwtSecret: 'x'.repeat(32), cookieSecret: 'y'.repeat(32) };

export default defineConfig({
  projectConfig: {
    databaseUrl,
    databaseDriverOptions: { connection: { ssl: false } },
    http: { storeCors: '*', adminCors: '*', authCors: '*', ...SECRETS },
  },
  admin: { disable: true },
  modules: [
    {
      resolve: '@medusajs/medusa/payment',
      options: { providers: [{ resolve: 'tapline-medusa', id: 'pos', options }] },
    },
  ],
});
