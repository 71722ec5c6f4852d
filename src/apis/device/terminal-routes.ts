import { DeviceSchema, SoftwareBody, TERMINAL_EXAMPLE } from '#apis/merchant/terminal-schema.ts';
import { answerWith } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { defineRoute } from '#http/route.ts';
import type { DeviceCaller } from '#terminals/authenticate.ts';
import { reportSoftware } from '#terminals/change-terminal.ts';
import { terminalObject } from '#terminals/render.ts';
import { selectTerminal, updateLastSeen } from '#terminals/terminal-queries.ts';

const TAG = 'Terminal protocol';

const responses = {
  200: {
    schema: DeviceSchema,
    description: 'The terminal.',
    example: { ...TERMINAL_EXAMPLE, merchant_name: 'Blue Door Café' },
  },
};

export function readDeviceRoute({ db }: { readonly db: Database }) {
  return defineRoute<DeviceCaller>({
    method: 'GET',
    path: '/terminal',
    operationId: 'retrieveDevice',
    moves: 'nothing',
    tag: TAG,
    summary: 'This terminal, its merchant and network',
    scope: null,
    idempotency: 'ignored',
    responses,
    errors: [],
    handle: async ({ caller, now }) => {
      await updateLastSeen(db, [caller.terminalId], now);
      const row = await selectTerminal(db, caller.tenant, caller.terminalId);
      const terminal = terminalObject(present(row, 'terminal of a device'));
      return answerWith(200, { ...terminal, merchant_name: caller.standing.name });
    },
  });
}

export function reportDeviceRoute(deps: { readonly db: Database; readonly wakeups: Wakeups }) {
  return defineRoute<DeviceCaller, undefined, typeof SoftwareBody>({
    method: 'PATCH',
    path: '/terminal',
    operationId: 'reportDeviceSoftware',
    moves: 'data',
    tag: TAG,
    summary: 'Say which software this terminal runs',
    description:
      'Once per start. What is left out stays as it is. A change sends `terminal.updated`; the ' +
      'same report again changes nothing and sends nothing.',
    scope: null,
    idempotency: 'ignored',
    body: SoftwareBody,
    bodyExample: { platform: 'browser', software_version: '1.4.0' },
    responses,
    errors: [],
    handle: async ({ caller, body, now }) => {
      const ref = { tenant: caller.tenant, id: caller.terminalId, now };
      const row = await deps.db.transaction((tx) => reportSoftware(tx, ref, body));
      deps.wakeups.send('deliveries');
      return answerWith(200, { ...terminalObject(row), merchant_name: caller.standing.name });
    },
  });
}
