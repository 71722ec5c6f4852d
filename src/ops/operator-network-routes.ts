import Type from 'typebox';
import { getAddress, isAddress } from 'viem';
import { NETWORK_CHAIN, recordChange } from '#accounts/audit.ts';
import { deleteSessionsOf } from '#accounts/session-queries.ts';
import { selectOperators, selectUser, updateUserStatus } from '#accounts/user-queries.ts';
import { answerWith } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import { type Refusal, refuse, resourceMissing } from '#core/refusal.ts';
import { AuditEntrySchema } from '#dashboard/account-schema.ts';
import { AuditQuery, answerAudit } from '#dashboard/audit-routes.ts';
import { actorOf, type PersonCaller, sessionOf } from '#dashboard/caller.ts';
import { personRoute } from '#dashboard/person-route.ts';
import { Done, listed } from '#dashboard/person-schema.ts';
import type { Tx } from '#db/database.ts';
import type { AnyRoute, Handled } from '#http/route.ts';
import { idOf, listOf, nullable, openObject, Timestamp, text } from '#http/schema.ts';
import type { OperatorDeps } from '#ops/operator-deps.ts';
import {
  searchPayers,
  selectCursors,
  selectOpenDifferences,
  selectWork,
} from '#ops/operator-queries.ts';
import { selectPayer, updatePayerBlocked } from '#payers/queries.ts';
import { acceptDifference } from '#settlement/reconcile-queries.ts';
import { readRelayerStatus } from '#settlement/relayer-status.ts';
import { resolveAlarm } from '#settlement/status-queries.ts';

const TAG = 'Network';
/** More differences have one cause; the first tell it. */
const MAX_DIFFERENCES = 500;

const PayerSchema = Type.Object({
  id: idOf('pyr_', 'payer'),
  network: Type.String(),
  address: Type.String(),
  passes: Type.Integer(),
  created: Timestamp,
  blocked_at: nullable(Timestamp),
});

const PayerQuery = Type.Object({ text: text(64, 'A payer id or a wallet address.', 1) });

function payersRoute({ db }: OperatorDeps) {
  return personRoute<typeof PayerQuery>({
    method: 'GET',
    path: '/payers',
    operationId: 'searchPayers',
    tag: TAG,
    summary: 'Payers by id or wallet',
    access: 'operator',
    query: PayerQuery,
    response: listed(PayerSchema),
    handle: async ({ query }) => {
      const lower = query.text.toLowerCase();
      const wanted = isAddress(lower) ? getAddress(lower) : query.text;
      const rows = await searchPayers(db, wanted);
      const data = rows.map(({ livemode, ...rest }) => ({ ...rest, network: networkOf(livemode) }));
      return answerWith(200, { object: 'list', data });
    },
  });
}

async function record(
  tx: Tx,
  request: Handled<PersonCaller, unknown, unknown>,
  change: {
    readonly action: string;
    readonly objectId: string;
    readonly livemode: boolean | null;
    readonly reason: string | null;
  },
): Promise<void> {
  await recordChange(tx, {
    chain: NETWORK_CHAIN,
    actor: actorOf(request.caller, request.requestId),
    action: change.action,
    objectId: change.objectId,
    livemode: change.livemode,
    before: null,
    after: { reason: change.reason },
    now: request.now,
  });
}

const ReasonBody = Type.Object({ reason: text(500, 'For the audit log.', 1) });

function blockRoute({ db }: OperatorDeps, verb: 'block' | 'unblock') {
  return personRoute<undefined, typeof ReasonBody>({
    method: 'POST',
    path: `/payers/{id}/${verb}`,
    operationId: `${verb}AnyPayer`,
    tag: TAG,
    summary: verb === 'block' ? 'Decline every tap of a payer' : 'Let a payer pay again',
    access: 'operator',
    params: { id: 'payer' },
    body: ReasonBody,
    response: Done,
    errors: ['resource_missing'],
    handle: async (request) => {
      const id = request.params.id ?? '';
      const { reason } = request.body;
      const done = await db.transaction(async (tx) => {
        const payer = await selectPayer(tx, id);
        if (payer === undefined) return false;
        await updatePayerBlocked(tx, id, verb === 'block' ? request.now : null);
        const { livemode } = payer;
        await record(tx, request, { action: `payer.${verb}ed`, objectId: id, livemode, reason });
        return true;
      });
      return done ? answerWith(200, { status: `${verb}ed` }) : resourceMissing('payer');
    },
  });
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

function relayersRoute({ db, chains }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: '/relayers',
    operationId: 'readRelayers',
    tag: TAG,
    summary: 'Per network: head, lanes with balances and stuck transactions, queues, alarms',
    description: 'Wei, nonces and block numbers are decimal strings.',
    access: 'operator',
    response: listed(openObject('One network as its relayers see it.')),
    handle: async () => {
      const data = await Promise.all(chains.map((chain) => readRelayerStatus(db, chain)));
      return { status: 200, body: JSON.stringify({ object: 'list', data }, plain) };
    },
  });
}

/** A person has looked into something that the service keeps saying until then. */
function lookedIntoRoute(
  { db }: OperatorDeps,
  of: {
    readonly path: string;
    readonly operationId: string;
    readonly summary: string;
    readonly thing: string;
    readonly action: string;
    readonly status: string;
    readonly write: (tx: Tx, id: bigint, now: Date) => Promise<boolean>;
  },
) {
  const { path, operationId, summary, thing, action, status } = of;
  return personRoute<undefined, typeof ReasonBody>({
    method: 'POST',
    path,
    operationId,
    tag: TAG,
    summary,
    access: 'operator',
    params: { id: 'text' },
    body: ReasonBody,
    response: Done,
    errors: ['resource_missing'],
    handle: async (request) => {
      const id = request.params.id ?? '';
      if (!/^[1-9]\d{0,17}$/.test(id)) return resourceMissing(thing);
      const { reason } = request.body;
      const done = await db.transaction(async (tx) => {
        if (!(await of.write(tx, BigInt(id), request.now))) return false;
        await record(tx, request, { action, objectId: id, livemode: null, reason });
        return true;
      });
      return done ? answerWith(200, { status }) : resourceMissing(`open ${thing}`);
    },
  });
}

function alarmRoute(deps: OperatorDeps) {
  return lookedIntoRoute(deps, {
    path: '/alarms/{id}/resolve',
    operationId: 'resolveAlarm',
    summary: 'An alarm was looked into',
    thing: 'alarm',
    action: 'alarm.resolved',
    status: 'resolved',
    write: resolveAlarm,
  });
}

function differenceRoute(deps: OperatorDeps) {
  return lookedIntoRoute(deps, {
    path: '/reconciliation/differences/{id}/accept',
    operationId: 'acceptDifference',
    summary: 'A difference between chain and database is known and lived with, as long as it stays',
    thing: 'difference',
    action: 'difference.accepted',
    status: 'accepted',
    write: acceptDifference,
  });
}

function queuesRoute({ db }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: '/queues',
    operationId: 'readQueues',
    tag: TAG,
    summary: 'What waits to be done, and since when',
    access: 'operator',
    response: listed(
      Type.Object({
        queue: Type.String(),
        waiting: Type.Integer(),
        oldest: nullable(Timestamp),
      }),
    ),
    handle: async () => answerWith(200, { object: 'list', data: await selectWork(db) }),
  });
}

function reconciliationRoute({ db }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: '/reconciliation',
    operationId: 'readReconciliation',
    tag: TAG,
    summary: 'How far the chains are reconciled, and every open difference',
    access: 'operator',
    response: Type.Object({
      cursors: Type.Array(openObject('How far one network is read.')),
      differences: Type.Array(openObject('What ledger and chain do not agree on.')),
    }),
    handle: async () => {
      const [cursors, differences] = await Promise.all([
        selectCursors(db),
        selectOpenDifferences(db, MAX_DIFFERENCES),
      ]);
      return { status: 200, body: JSON.stringify({ cursors, differences }, plain) };
    },
  });
}

function configurationRoute({ configuration }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: '/configuration',
    operationId: 'readConfiguration',
    tag: TAG,
    summary: 'The configuration as this process has read it, secrets masked',
    access: 'operator',
    response: openObject('The settings by name, secrets masked.'),
    handle: async () => answerWith(200, configuration()),
  });
}

const NetworkAuditQuery = Type.Object({
  ...AuditQuery.properties,
  account: Type.Optional(idOf('acct_', 'account')),
});

function auditRoute({ db, cursorKey }: OperatorDeps) {
  return personRoute<typeof NetworkAuditQuery>({
    method: 'GET',
    path: '/audit_log',
    operationId: 'listNetworkAuditLog',
    tag: TAG,
    summary: "The network's own audit log, or an account's",
    access: 'operator',
    query: NetworkAuditQuery,
    response: listOf(AuditEntrySchema),
    errors: ['cursor_invalid'],
    handle: async ({ query }) => {
      const { account, ...rest } = query;
      return answerAudit(db, { chain: account ?? NETWORK_CHAIN, query: rest, cursorKey });
    },
  });
}

const OperatorSchema = Type.Object({
  id: idOf('usr_', 'user'),
  email: Type.String(),
  name: Type.String(),
  status: Type.String(),
  created: Timestamp,
});

function operatorsRoute({ db }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: '/operators',
    operationId: 'listOperators',
    tag: TAG,
    summary: "The network's staff",
    access: 'operator',
    response: listed(OperatorSchema),
    handle: async () => {
      const rows = await selectOperators(db);
      const data = rows.map(({ id, email, name, status, created }) => {
        return { id, email, name, status, created };
      });
      return answerWith(200, { object: 'list', data });
    },
  });
}

function notYourself(): Refusal {
  return refuse('unexpected_state', 'Nobody disables themselves: ask a colleague.');
}

function disableOperatorRoute({ db }: OperatorDeps) {
  return personRoute<undefined, typeof ReasonBody>({
    method: 'POST',
    path: '/operators/{id}/disable',
    operationId: 'disableOperator',
    tag: TAG,
    summary: 'Take a colleague’s access away, everywhere and at once',
    access: 'operator',
    params: { id: 'user' },
    body: ReasonBody,
    response: Done,
    errors: ['resource_missing', 'unexpected_state'],
    handle: async (request) => {
      const id = request.params.id ?? '';
      const { reason } = request.body;
      if (id === sessionOf(request.caller).user_id) return notYourself();
      const done = await db.transaction(async (tx) => {
        const user = await selectUser(tx, id);
        if (user?.realm !== 'operator') return false;
        await updateUserStatus(tx, { id, status: 'disabled' });
        await deleteSessionsOf(tx, { userId: id, exceptId: null });
        const action = 'operator.disabled';
        await record(tx, request, { action, objectId: id, livemode: null, reason });
        return true;
      });
      return done ? answerWith(200, { status: 'disabled' }) : resourceMissing('operator');
    },
  });
}

/** The network as its staff sees it. */
export function operatorNetworkRoutes(deps: OperatorDeps): AnyRoute<PersonCaller>[] {
  return [
    payersRoute(deps),
    blockRoute(deps, 'block'),
    blockRoute(deps, 'unblock'),
    relayersRoute(deps),
    alarmRoute(deps),
    differenceRoute(deps),
    queuesRoute(deps),
    reconciliationRoute(deps),
    configurationRoute(deps),
    auditRoute(deps),
    operatorsRoute(deps),
    disableOperatorRoute(deps),
  ];
}
