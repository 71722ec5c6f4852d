import Type from 'typebox';
import { answerWith } from '#core/answer.ts';
import { isRefusal } from '#core/refusal.ts';
import {
  ManagedTerminalSchema,
  PairingCodeSchema,
  TerminalWithKey,
} from '#dashboard/account-schema.ts';
import { actorOf, type PersonCaller } from '#dashboard/caller.ts';
import { type DashboardDeps, MODE } from '#dashboard/dashboard-deps.ts';
import { personRoute } from '#dashboard/person-route.ts';
import { PersonName, Version } from '#dashboard/person-schema.ts';
import type { AnyRoute, Handled } from '#http/route.ts';
import { text } from '#http/schema.ts';
import { editTerminal, rotateDeviceKey } from '#terminals/change-terminal.ts';
import { createTerminal, terminalObject } from '#terminals/create-terminal.ts';
import { createPairingCode } from '#terminals/pairing.ts';
import type { TerminalRow } from '#terminals/provisioning-queries.ts';

const TAG = 'Terminals';

function terminalView(row: TerminalRow) {
  return { ...terminalObject(row), version: row.version };
}

function terminalRef({ caller, params, requestId, now }: Handled<PersonCaller, unknown, unknown>) {
  const { tenant } = caller;
  return { tenant, id: params.id ?? '', actor: actorOf(caller, requestId), now };
}

const CreateBody = Type.Object({
  label: PersonName,
  name: Type.Optional(PersonName),
  platform: Type.Optional(text(40, 'What runs on it, such as generic.', 1)),
});

function createRoute({ db, wakeups }: DashboardDeps) {
  return personRoute<undefined, typeof CreateBody>({
    method: 'POST',
    path: `${MODE}/terminals`,
    operationId: 'createTerminal',
    tag: TAG,
    summary: 'Add a terminal; its device key is shown this once',
    access: 'admin',
    body: CreateBody,
    status: 201,
    response: TerminalWithKey,
    errors: ['kyb_required', 'unexpected_state'],
    handle: async ({ caller, body, requestId, now }) => {
      const actor = actorOf(caller, requestId);
      const issued = await db.transaction((tx) =>
        createTerminal(tx, { tenant: caller.tenant, ...body, actor, now }),
      );
      if (isRefusal(issued)) return issued;
      wakeups.send('deliveries');
      return answerWith(201, { ...terminalView(issued.row), device_key: issued.secret });
    },
  });
}

const LabelBody = Type.Object({
  version: Version,
  label: Type.Optional(PersonName),
  name: Type.Optional(PersonName),
});

function labelRoute({ db, wakeups }: DashboardDeps) {
  return personRoute<undefined, typeof LabelBody>({
    method: 'PATCH',
    path: `${MODE}/terminals/{id}`,
    operationId: 'updateTerminal',
    tag: TAG,
    summary: 'Change label or name',
    access: 'member',
    params: { id: 'terminal' },
    body: LabelBody,
    response: ManagedTerminalSchema,
    errors: ['version_conflict'],
    handle: async (request) => {
      const row = await db.transaction((tx) =>
        editTerminal(tx, terminalRef(request), request.body),
      );
      if (isRefusal(row)) return row;
      wakeups.send('deliveries');
      return answerWith(200, terminalView(row));
    },
  });
}

function statusRoute(
  { db, wakeups }: DashboardDeps,
  of: { readonly verb: 'activate' | 'deactivate'; readonly status: 'active' | 'inactive' },
) {
  return personRoute({
    method: 'POST',
    path: `${MODE}/terminals/{id}/${of.verb}`,
    operationId: `${of.verb}Terminal`,
    tag: TAG,
    summary: of.verb === 'activate' ? 'Let it take payments' : 'Let it take no more payments',
    access: 'admin',
    params: { id: 'terminal' },
    response: ManagedTerminalSchema,
    handle: async (request) => {
      const edit = { version: null, status: of.status };
      const row = await db.transaction((tx) => editTerminal(tx, terminalRef(request), edit));
      if (isRefusal(row)) return row;
      wakeups.send('deliveries');
      return answerWith(200, terminalView(row));
    },
  });
}

function rotateRoute({ db }: DashboardDeps) {
  return personRoute({
    method: 'POST',
    path: `${MODE}/terminals/{id}/rotate_device_key`,
    operationId: 'rotateDeviceKey',
    tag: TAG,
    summary: 'A new device key; the old one is void at once',
    access: 'admin',
    params: { id: 'terminal' },
    status: 201,
    response: TerminalWithKey,
    handle: async (request) => {
      const issued = await db.transaction((tx) => rotateDeviceKey(tx, terminalRef(request)));
      if (isRefusal(issued)) return issued;
      return answerWith(201, { ...terminalView(issued.row), device_key: issued.secret });
    },
  });
}

function pairingRoute({ db }: DashboardDeps) {
  return personRoute({
    method: 'POST',
    path: `${MODE}/terminals/{id}/pairing_code`,
    operationId: 'createPairingCode',
    tag: TAG,
    summary: 'A short code that the terminal changes into a device key',
    description: 'Works once, for ten minutes. The terminal’s present key is void when it is used.',
    access: 'admin',
    params: { id: 'terminal' },
    status: 201,
    response: PairingCodeSchema,
    handle: async (request) => {
      const made = await db.transaction((tx) => createPairingCode(tx, terminalRef(request)));
      if (isRefusal(made)) return made;
      return answerWith(201, { code: made.code, expires_at: made.expiresAt });
    },
  });
}

/** What the dashboard does to terminals; it reads them as the merchant API does. */
export function managedTerminalRoutes(deps: DashboardDeps): AnyRoute<PersonCaller>[] {
  return [
    createRoute(deps),
    labelRoute(deps),
    statusRoute(deps, { verb: 'activate', status: 'active' }),
    statusRoute(deps, { verb: 'deactivate', status: 'inactive' }),
    rotateRoute(deps),
    pairingRoute(deps),
  ];
}
