import Type from 'typebox';
import { selectBrand } from '#accounts/brand-queries.ts';
import { MAX_LOGO_BYTES, removeLogo, setBrandColor, setLogo } from '#accounts/set-brand.ts';
import { ACCOUNT, changeBy, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { type Answer, answerWith, isRefusal } from '#core/answer.ts';
import { brandPath, inkOn } from '#core/brand-styles.ts';
import type { SettingClasses } from '#core/setting-classes.ts';
import type { Database } from '#db/database.ts';
import { nullable, objectType, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

const TAG = 'Logo and color';
const PATH = `${ACCOUNT}/brand`;

const Color = Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'Such as `#0a7d4c`.' });

const BrandSchema = Type.Object(
  {
    object: objectType('brand'),
    color: nullable(Color),
    text_color: nullable(
      textOut('Black or white, whichever is easier to read on `color`, at least 4.5 to 1.'),
    ),
    logo_path: nullable(textOut('The path of the logo on this service.')),
    style_path: nullable(textOut('The style sheet of the payers’ pages; `null` if there is none.')),
  },
  { description: 'The logo and color that payers see beside the name of the business.' },
);

async function answerBrand(db: Database, accountId: string): Promise<Answer> {
  const brand = await selectBrand(db, accountId);
  const color = brand?.color ?? null;
  return answerWith(200, {
    object: 'brand',
    color: color === null ? null : `#${color}`,
    text_color: color === null ? null : `#${inkOn(color)}`,
    logo_path: brand?.logo_id == null ? null : `brand/${brand.logo_id}.png`,
    style_path: brand === null ? null : brandPath(brand.style),
  });
}

function readRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: PATH,
    operationId: 'readBrand',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve the logo and color of the business',
    access: 'viewer',
    response: BrandSchema,
    handle: async ({ caller }) => answerBrand(db, caller.tenant.accountId),
  });
}

/** Receipts show the logo in its color. */
const BRAND_FIELDS: SettingClasses = { color: 'printed', logo_id: 'printed' };

const ColorBody = Type.Object({ color: nullable(Color) });

function colorRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof ColorBody>({
    method: 'PUT',
    path: `${PATH}/color`,
    operationId: 'setBrandColor',
    moves: 'data',
    tag: TAG,
    summary: 'Set or remove the color behind the name',
    access: 'admin',
    settings: BRAND_FIELDS,
    body: ColorBody,
    response: BrandSchema,
    handle: async (request) => {
      const color = request.body.color?.slice(1) ?? null;
      const ref = changeBy(request);
      await db.transaction((tx) => setBrandColor(tx, ref, color));
      return answerBrand(db, ref.accountId);
    },
  });
}

function logoRoute({ db }: ApiContext) {
  return personRoute({
    method: 'POST',
    path: `${PATH}/logo`,
    operationId: 'uploadLogo',
    moves: 'data',
    tag: TAG,
    summary: 'Upload the logo: the file itself is the request body',
    description: 'A PNG of at most 100 KiB, with 16 to 1024 pixels on each side.',
    access: 'admin',
    settings: BRAND_FIELDS,
    upload: { contentTypes: ['image/png'], maxBytes: MAX_LOGO_BYTES },
    response: BrandSchema,
    errors: ['body_too_large', 'content_type_unsupported'],
    handle: async (request) => {
      const ref = changeBy(request);
      const refused = await db.transaction((tx) => setLogo(tx, ref, request.bytes));
      return isRefusal(refused) ? refused : answerBrand(db, ref.accountId);
    },
  });
}

function removeRoute({ db }: ApiContext) {
  return personRoute({
    method: 'DELETE',
    path: `${PATH}/logo`,
    operationId: 'removeLogo',
    moves: 'data',
    settings: BRAND_FIELDS,
    tag: TAG,
    summary: 'Remove the logo',
    access: 'admin',
    response: BrandSchema,
    handle: async (request) => {
      const ref = changeBy(request);
      await db.transaction((tx) => removeLogo(tx, ref));
      return answerBrand(db, ref.accountId);
    },
  });
}

export function brandRoutes(ctx: ApiContext): PersonRoute[] {
  return [readRoute(ctx), colorRoute(ctx), logoRoute(ctx), removeRoute(ctx)];
}
