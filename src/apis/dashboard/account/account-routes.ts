import Type from 'typebox';
import { moveAccount } from '#accounts/account-organization.ts';
import type { AccountRow } from '#accounts/account-queries.ts';
import { createAccount } from '#accounts/create-account.ts';
import {
  editAccount,
  MAX_REFUND_DAILY_LIMIT,
  MAX_REFUND_WINDOW_DAYS,
} from '#accounts/edit-account.ts';
import type { FiscalSigner } from '#accounts/shop-settings.ts';
import {
  ACCOUNT_FIELDS,
  AccountSchema,
  AutomaticPayout,
  CashierAccountSchema,
  Datev,
  DayStartsAt,
  ExportSchedule,
  LanguageOut,
  shopFields,
  TimeZone,
} from '#apis/dashboard/account/account-schema.ts';
import { readAccountView, readCashierAccount } from '#apis/dashboard/account/account-view.ts';
import {
  ACCOUNT,
  actorOf,
  type PersonRoute,
  personRoute,
  sessionOf,
} from '#apis/dashboard/person-route.ts';
import { EmailOut, listed, PersonName, RoleField, Version } from '#apis/dashboard/person-schema.ts';
import { hasTrustedFactor } from '#apis/dashboard/sessions/confirm-identity.ts';
import { mayChangeSettings } from '#apis/dashboard/team/mail-owners-of-changes.ts';
import { limitInput } from '#apis/merchant/limit-schema.ts';
import { answerWith, isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { MAX_AMOUNT } from '#core/money.ts';
import { readEmail, readName } from '#core/name-rules.ts';
import type { Tx } from '#db/database.ts';
import { FISCAL_WAKEUP } from '#fiscal/sign-receipts.ts';
import { idOf, nullable, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectAccountsOf } from '#people/membership-queries.ts';
import { askReportEmail } from '#people/person-links.ts';
import { checkEndpointUrl, checkTillUrl } from '#webhooks/endpoint-url.ts';

const TAG = 'Accounts';
/**
 * Maximum number of accounts per owner: enough for a chain of brands, but too few to flood the
 * network with empty accounts.
 */
const MAX_OWNED_ACCOUNTS = 20;

const OwnAccount = Type.Object({
  id: idOf('acct_', 'account'),
  name: textOut('The name of the account.'),
  role: RoleField,
});
const NewAccount = Type.Object({ name: PersonName });

function listRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: '/accounts',
    operationId: 'listAccounts',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the accounts that I belong to',
    access: 'signed_in',
    response: listed(OwnAccount, 'The accounts that the person is a member of.'),
    handle: async ({ caller }) => {
      const rows = await selectAccountsOf(db, sessionOf(caller).user_id);
      const data = rows.map(({ account_id: id, name, role }) => ({ id, name, role }));
      return answerWith(200, { object: 'list', data });
    },
  });
}

function createRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof NewAccount>({
    method: 'POST',
    path: '/accounts',
    operationId: 'createAccount',
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Open another account, owned by me',
    access: 'signed_in',
    body: NewAccount,
    status: 201,
    response: AccountSchema,
    errors: ['unexpected_state'],
    handle: async ({ caller, body, requestId, now }) => {
      const name = readName(body.name, 'name');
      if (isRefusal(name)) return name;
      const ownerId = sessionOf(caller).user_id;
      const owned = (await selectAccountsOf(db, ownerId)).filter((row) => row.role === 'owner');
      if (owned.length >= MAX_OWNED_ACCOUNTS) {
        return refuse(
          'unexpected_state',
          `A person can own at most ${MAX_OWNED_ACCOUNTS} accounts.`,
        );
      }
      const actor = actorOf(caller, requestId);
      const { accountId } = await db.transaction((tx) =>
        createAccount(tx, { name, ownerId, actor, now }),
      );
      return answerWith(201, present(await readAccountView(db, accountId), 'account'));
    },
  });
}

function readRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: ACCOUNT,
    operationId: 'readAccount',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve the account, its settings and its modes',
    description: 'A cashier gets only `id`, `name` and `time_zone`.',
    access: 'cashier',
    response: Type.Union([AccountSchema, CashierAccountSchema], {
      description: 'The account, its settings and its modes; for a cashier, only what it is.',
    }),
    handle: async ({ caller: { role, tenant } }) => {
      const read = role === 'cashier' ? readCashierAccount : readAccountView;
      return answerWith(200, present(await read(db, tenant.accountId), 'account'));
    },
  });
}

const SettingsBody = Type.Object({
  version: Version,
  name: Type.Optional(PersonName),
  refund_window_days: Type.Optional(
    Type.Integer({ minimum: 0, maximum: MAX_REFUND_WINDOW_DAYS, description: '0 to 3650 days.' }),
  ),
  refund_daily_limit: Type.Optional(
    limitInput(MAX_REFUND_DAILY_LIMIT, 'How much can be refunded per UTC day.'),
  ),
  till_refund_limit: Type.Optional(
    limitInput(
      MAX_AMOUNT,
      'How much of one sale, over all its refunds, a till may refund without a manager’s code ' +
        'while no person is signed in. A terminal’s `refund_limit` replaces it.',
    ),
  ),
  time_zone: Type.Optional(TimeZone),
  language: Type.Optional(LanguageOut),
  automatic_payout: Type.Optional(AutomaticPayout),
  export_schedule: Type.Optional(ExportSchedule),
  report_email: Type.Optional(
    nullable({
      ...EmailOut,
      description:
        'The address to which the reports of shifts are mailed; `null` for none. A new one gets ' +
        'a link that confirms it, and counts from then on.',
    }),
  ),
  datev: Type.Optional(Datev),
  day_starts_at: Type.Optional(DayStartsAt),
  ...Type.Partial(Type.Object(shopFields)).properties,
});

/** Returns the settings of books and reports. Email addresses are normalized. */
function readBooks(body: Type.Static<typeof SettingsBody>) {
  const { export_schedule: schedule, datev, day_starts_at: dayStartsAt } = body;
  const accounts = datev == null ? datev : { ...datev, tips: datev.tips ?? null };
  const reportEmail = body.report_email == null ? body.report_email : readEmail(body.report_email);
  if (isRefusal(reportEmail)) return { ...reportEmail, param: 'report_email' };
  const books = { datev: accounts, dayStartsAt, reportEmail };
  if (schedule?.email === undefined) return { ...books, exportSchedule: schedule };
  const email = readEmail(schedule.email);
  if (isRefusal(email)) return { ...email, param: 'export_schedule.email' };
  return { ...books, exportSchedule: { ...schedule, email } };
}

/** Mails the new address of shift reports the link that confirms it. */
async function mailReportLink(
  tx: Tx,
  ctx: ApiContext,
  account: AccountRow,
  by: { readonly userId: string; readonly now: Date },
): Promise<AccountRow> {
  const { id: accountId, name: accountName, report_email_asked: email } = account;
  if (email === null) return account;
  const asked = { ...by, accountId, accountName, email };
  await askReportEmail(tx, ctx.people.merchant, asked);
  return account;
}

/**
 * Checks the signer's URL by the rules of test mode, which allow http. In live mode, the service
 * sends nothing to a signer that does not use https.
 */
async function checkSigner(
  { outside: { webhooks: network } }: ApiContext,
  signer: FiscalSigner | null | undefined,
): Promise<Refusal | null> {
  const check = { ...network, livemode: false };
  const wrong =
    signer &&
    (signer.called_by === 'terminal'
      ? checkTillUrl(signer.url)
      : await checkEndpointUrl(signer.url, check));
  return wrong == null ? null : { ...wrong, param: 'fiscal_signer.url' };
}

const OrganizationBody = Type.Object({
  organization: nullable(idOf('org_', 'organization')),
});

function organizationRoute(ctx: ApiContext) {
  const { db } = ctx;
  return personRoute<undefined, typeof OrganizationBody>({
    method: 'PUT',
    path: `${ACCOUNT}/organization`,
    operationId: 'moveAccount',
    moves: 'access',
    tag: TAG,
    summary: 'Put the account into an organization, or take it out',
    description:
      'For owners of both. The people of the organization have their role in the account ' +
      'from then on; a change of owners needs a fresh second factor, and emails the ' +
      'owners. Nothing else is inherited: settings, keys, limits and wallets stay the ' +
      'account’s own.',
    access: 'owner',
    body: OrganizationBody,
    response: AccountSchema,
    errors: ['unexpected_state'],
    handle: async ({ caller, body, requestId, now }) => {
      const { accountId } = caller.tenant;
      const move = {
        ...{ accountId, userId: sessionOf(caller).user_id, actor: actorOf(caller, requestId) },
        ...{ factorIsFresh: hasTrustedFactor(caller, now), people: ctx.people.merchant, now },
      };
      const moved = await db.transaction((tx) => moveAccount(tx, move, body.organization));
      ctx.wakeups.send('mail');
      if (isRefusal(moved)) return moved;
      return answerWith(200, present(await readAccountView(db, accountId), 'account'));
    },
  });
}

/** Returns the settings of a request that need no further check. */
function settingsIn(body: Type.Static<typeof SettingsBody>) {
  const { currency, tax_rates, prices_include_tax, legal_name, address, tax_number } = body;
  const { fiscal_signer, discounts, default_tax_rate, tip_percentages } = body;
  return {
    version: body.version,
    name: body.name,
    refundWindowDays: body.refund_window_days,
    refundDailyLimit: body.refund_daily_limit,
    tillRefundLimit: body.till_refund_limit,
    ...{ timeZone: body.time_zone, language: body.language },
    automaticPayout: body.automatic_payout,
    shop: {
      ...{ currency, tax_rates, prices_include_tax, discounts },
      ...{ default_tax_rate, tip_percentages },
      ...{ legal_name, address, tax_number, fiscal_signer },
    },
  };
}

function updateRoute(ctx: ApiContext) {
  const { db } = ctx;
  return personRoute<undefined, typeof SettingsBody>({
    method: 'PATCH',
    path: ACCOUNT,
    operationId: 'updateAccount',
    moves: 'name',
    tag: TAG,
    summary: 'Change the account’s name, limits, time zone, language, currency or taxes',
    description:
      'Only owners can change `automatic_payout`; enabling it needs a fresh second factor ' +
      'and emails the owners. In a live account, changing `export_schedule`, `report_email` or ' +
      '`fiscal_signer` needs one too, and emails the owners, as a change of currency, taxes or ' +
      'receipt details does: at most one email an hour for each of these two kinds. A business ' +
      'that is verified, or is being verified, keeps its name until the network’s staff has ' +
      'accepted the new one: see `requested_name`.',
    access: 'admin',
    settings: ACCOUNT_FIELDS,
    body: SettingsBody,
    response: AccountSchema,
    errors: ['version_conflict', 'url_not_allowed', 'rates_unavailable'],
    handle: async ({ caller, body, requestId, now }) => {
      const { accountId } = caller.tenant;
      const { fiscal_signer } = body;
      const wrong = await checkSigner(ctx, fiscal_signer);
      if (wrong !== null) return wrong;
      const books = readBooks(body);
      if (isRefusal(books)) return books;
      const ref = { accountId, actor: actorOf(caller, requestId), now };
      const edit = { ...settingsIn(body), ...books };
      const mayChange = mayChangeSettings(ctx.people.merchant, {
        session: sessionOf(caller),
        tenant: caller.tenant,
        role: caller.role,
        isRealMoney: caller.isRealMoney,
        now,
      });
      const row = await db.transaction(async (tx) => {
        const edited = await editAccount(tx, ref, edit, mayChange(tx));
        if (isRefusal(edited) || edited.report_email_asked !== edit.reportEmail) return edited;
        return mailReportLink(tx, ctx, edited, { userId: sessionOf(caller).user_id, now });
      });
      ctx.wakeups.send('mail');
      if (isRefusal(row)) return row;
      if (fiscal_signer != null) ctx.wakeups.send(FISCAL_WAKEUP);
      return answerWith(200, present(await readAccountView(db, accountId), 'account'));
    },
  });
}

export function accountRoutes(ctx: ApiContext): PersonRoute[] {
  return [
    listRoute(ctx),
    createRoute(ctx),
    readRoute(ctx),
    updateRoute(ctx),
    organizationRoute(ctx),
  ];
}
