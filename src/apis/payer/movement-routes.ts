import Type from 'typebox';
import { payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { MovementListSchema } from '#apis/payer/movement-schema.ts';
import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import { isRefusal, refuse } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import { perProcess } from '#core/once-per-process.ts';
import { answerPage, readPage } from '#http/cursors.ts';
import { pageParameters } from '#http/schema.ts';
import {
  type ShownMovement,
  selectMovements,
  selectWalletRead,
} from '#payers/movements/movement-queries.ts';
import { readMovements } from '#payers/movements/read-movements.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';

const MovementsQuery = Type.Object(pageParameters);

/** Readings under way, by payer: the windows of a wallet share one. */
const readings = perProcess((_: ApiContext) => new Map<string, Promise<void>>());

function readOnce(ctx: ApiContext, chain: Chain, payer: PayerRow, now: Date): Promise<void> {
  const underWay = readings(ctx);
  const known = underWay.get(payer.id);
  if (known !== undefined) return known;
  const { db, keys, settings } = ctx;
  const reader = { db, chain, idKey: keys.id, requestsPerDay: settings.walletReadsPerDay };
  const reading = readMovements(reader, { payer, now })
    .catch((error: unknown) => {
      // The answer's `as_of` says that it is of an earlier time.
      if (!(error instanceof RpcUnavailable)) throw error;
    })
    .finally(() => underWay.delete(payer.id));
  underWay.set(payer.id, reading);
  return reading;
}

function renderMovement(movement: ShownMovement, livemode: boolean) {
  const { id, type, pending, amount, unsettled, fee, created } = movement;
  return {
    id,
    object: 'movement',
    livemode,
    network: networkOf(livemode),
    type,
    status: pending ? 'pending' : 'succeeded',
    amount: toJsonAtoms(amount + unsettled),
    currency: 'usdc',
    fee: toJsonAtoms(fee),
    with: movement.merchant_name ?? movement.address,
    payment: movement.payment_id,
    tx_hash: movement.tx_hash,
    created: created.toISOString(),
  };
}

export function movementRoutes(ctx: ApiContext): PayerRoute[] {
  return [
    payerRoute<typeof MovementsQuery>({
      method: 'GET',
      path: '/movements',
      operationId: 'listMovements',
      moves: 'nothing',
      summary: "List every movement of the wallet's USDC, newest first",
      description:
        'Payments, refunds and transfers, each once, as the chain has them: read from it at each ' +
        'request for the first page, from 30 days before the first sign-in. Transfers of 0 are ' +
        'left out, those below 0.01 USDC are folded by day. While no node answers, or after the ' +
        "day's requests to nodes (WALLET_READS_PER_DAY), the list shows what was read before.",
      query: MovementsQuery,
      responses: { 200: { schema: MovementListSchema, description: 'One page.' } },
      errors: ['cursor_invalid', 'service_unavailable'],
      handle: async ({ caller, query, now }) => {
        const payer = payerOfCaller(caller);
        const cursorKey = ctx.keys.cursor;
        const pagination = { list: 'movements', tenant: caller.tenant, query, cursorKey };
        const page = readPage(pagination, query);
        if (isRefusal(page)) return page;
        const chain = ctx.chains.find((one) => one.config.livemode === payer.livemode);
        if (chain !== undefined && page.after === null) await readOnce(ctx, chain, payer, now);
        const read = await selectWalletRead(ctx.db, payer.id);
        if (chain === undefined || read === undefined)
          return refuse('service_unavailable', 'The chain cannot be reached. Try again.');
        const { explorerUrl } = chain.config;
        const about = {
          since: read.since.toISOString(),
          as_of: read.as_of.toISOString(),
          explorer_url: explorerUrl === null ? null : `${explorerUrl}/address/${payer.address}`,
        };
        const rows = await selectMovements(ctx.db, payer, page);
        const render = (row: ShownMovement) => renderMovement(row, payer.livemode);
        return answerPage(pagination, page, rows, render, about);
      },
    }),
  ];
}
