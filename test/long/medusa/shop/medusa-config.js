// Medusa reads this file in each of its processes: settings come by the environment.
import { defineConfig } from '@medusajs/framework/utils';

const { databaseUrl, ...options } = JSON.parse(process.env.SHOP_SETTINGS);
/** Of a shop that lives for a minute. */
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
