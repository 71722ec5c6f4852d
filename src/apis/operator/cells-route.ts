import Type from 'typebox';
import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import type { OperatorParts } from '#apis/operator/operator-dependencies.ts';
import { selectWaiting } from '#apis/operator/operator-queries.ts';
import { answerWith } from '#core/answer.ts';
import { nullable, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

export const WaitingSchema = Type.Object(
  {
    alarms: Type.Integer({ description: 'Open alarms of both modes.' }),
    proposals: Type.Integer({ description: 'Changes that wait for a second operator.' }),
    verifications: Type.Integer({ description: 'Businesses that wait to be verified.' }),
  },
  { description: 'The work that waits for staff there; `null` if the cell did not respond.' },
);

const CellSchema = Type.Object({
  cell: Type.Integer({ description: 'The number of the cell.' }),
  console_url: nullable(
    textOut('The address of its console; `null` for this cell, or if the cell did not respond.'),
  ),
  waiting: nullable(WaitingSchema),
});

/** The list is the same in every cell. */
export function cellsRoute({ db }: ApiContext, { cells }: OperatorParts): PersonRoute {
  return personRoute({
    method: 'GET',
    path: '/cells',
    operationId: 'listCells',
    moves: 'nothing',
    tag: 'Network',
    summary: 'List the cells of the network, with the work that waits for staff in each',
    description: 'This cell comes first. A network of one cell has the number 0.',
    access: 'operator',
    response: listed(CellSchema, 'The cells.'),
    handle: async ({ now }) => {
      const [waiting, others] = await Promise.all([selectWaiting(db, now), cells?.others()]);
      const own = { cell: db.cell, console_url: null, waiting };
      return answerWith(200, { object: 'list', data: [own, ...(others ?? [])] });
    },
  });
}
