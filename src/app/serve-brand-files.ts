import type { FastifyInstance } from 'fastify';
import { selectLogo } from '#accounts/brand-queries.ts';
import { brandStyles } from '#core/brand-styles.ts';
import type { Database } from '#db/database.ts';
import { limitByAddress, PAGES } from '#http/address-rate-limit.ts';

/** Browsers cache the files forever, because their names change with their content. */
const KEPT = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'",
} as const;
const LOGO = /^([0-9a-f]{32})\.png$/;
const STYLES = /^(.*)\.css$/;

/** Serves merchants' logos and colors to everyone who can see the merchant's name. */
export function addBrandFiles(app: FastifyInstance, { db }: { readonly db: Database }): void {
  const onRequest = limitByAddress(PAGES);
  app.get<{ Params: { file: string } }>('/brand/:file', { onRequest }, async (request, reply) => {
    const { file } = request.params;
    const styles = brandStyles(STYLES.exec(file)?.[1] ?? '');
    if (styles !== null) return reply.headers(KEPT).type('text/css; charset=utf-8').send(styles);
    const id = LOGO.exec(file)?.[1];
    const logo = id === undefined ? null : await selectLogo(db, id);
    if (logo === null) return reply.code(404).send();
    return reply.headers(KEPT).type('image/png').send(logo);
  });
}
