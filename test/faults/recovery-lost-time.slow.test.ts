import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { present } from '#core/assert.ts';
import { type IdKey, numberedId, numberOfId } from '#core/ids.ts';
import { openIdKey } from '#db/id-key.ts';
import { createCard, tapUrl } from '#payers/card.ts';
import { createPass } from '#payers/create-pass.ts';
import { createPassCode } from '#payers/create-pass-code.ts';
import { createPayer } from '#payers/create-payer.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { cardKey, idSealingKey } from '#settings/config.ts';
import { caller, type Reply } from '#testkit/apis/api-client.ts';
import { payByLink } from '#testkit/apis/pay-links.ts';
import {
  AMOUNT,
  openRestoreGround,
  persist,
  REST_MS,
  type RecoveryRow,
  type RestoreGround,
} from '#testkit/simulation/restore-ground.ts';

/** Payers, cards and codes created in the period that a restored database has lost. */

const WEB = 'http://127.0.0.1:4242';

let world: RestoreGround;
let idKey: IdKey;
let row: RecoveryRow;

/** A credential that was presented or sent during the lost period. */
interface Credential {
  readonly type: string;
  readonly value: string;
}

interface LostSale {
  readonly intent: unknown;
  readonly payment: unknown;
}

const lost = new Map<string, LostSale>();
const lostOf = (order: string) => present(lost.get(order), `sale ${order}`);
/** The highest `sequence` that a receiver got before the restore. */
let seen: number;
let spentUrl: string;
let ownUrl: string;
let nextUrl: string;
let unspentCode: string;
let lostCode: string;

const merchant = () => world.node(0).merchant;

function tap(intent: unknown, credential: Credential): Promise<Reply> {
  const path = `/payment_intents/${intent}/tap`;
  return persist(() => world.node(0).terminal.post(path, { credential }));
}

/** Pays a new intent with this credential. */
async function sell(order: string, credential: Credential): Promise<Reply> {
  const created = await world.create(0, order);
  assert.equal(created.status, 201, JSON.stringify(created.body));
  return tap(created.body.id, credential);
}

function keep(order: string, paid: Reply): void {
  assert.equal(paid.body.status, 'succeeded', JSON.stringify(paid.body));
  lost.set(order, { intent: paid.body.id, payment: paid.body.payment });
}

/** Pays by the terminal's link with a wallet that the service does not know. */
async function payByWallet(intent: unknown): Promise<Reply> {
  const account = await world.outside.addWallet();
  const id = String(intent);
  const number = present(numberOfId(idKey, 'paymentIntent', { livemode: false, id }), 'number');
  const token = numberedId(idKey, 'payLink', { livemode: false, number });
  return payByLink(caller(`${world.nodes[0]?.url}/pay/v1`, ''), token, { account });
}

/**
 * Adds a card for the payer, before the backup. @returns a function that makes the message of a tap
 * from its counter.
 */
async function addCard(payerId: string): Promise<(counter: number) => string> {
  const card = await world.db.transaction((tx) =>
    createCard(tx, {
      payerId,
      label: 'a card',
      perPaymentLimit: 50_000_000n,
      cardKey: cardKey(world.ground.secret),
      now: new Date(),
    }),
  );
  return (counter) => tapUrl(WEB, card.row, { keys: card.keys, counter });
}

async function addCode(demo: { payerId: string; passId: string }): Promise<string> {
  const made = await world.db.transaction((tx) => createPassCode(tx, { ...demo, now: new Date() }));
  assert.ok('secret' in made);
  return made.secret;
}

/** Signs up a person whose wallet the contract already knows, and creates a pass. */
async function signUp(): Promise<string> {
  const address = await world.outside.addPayer();
  const made = await world.db.transaction(async (tx) => {
    const now = new Date();
    const payer = await createPayer(tx, { livemode: false, address, now });
    return createPass(tx, { payerId: payer.id, label: 'new', now });
  });
  return made.secret;
}

before(async () => {
  world = await openRestoreGround();
  idKey = await openIdKey(world.db, idSealingKey(world.ground.secret));
  const demo = await world.payerOf('ok');
  const chip = await addCard(demo.payerId);
  const open = await world.create(0, 'OPEN-QR');
  await sell('CARD-1', { type: 'nfc_sun', value: chip(1) });
  unspentCode = await addCode(demo);
  [spentUrl, ownUrl, nextUrl] = [chip(2), chip(3), chip(4)];
  const restore = await world.backUp('early');

  keep('OPEN-QR', await persist(() => payByWallet(open.body.id)));
  const created = await world.create(0, 'NEW-QR');
  keep('NEW-QR', await payByWallet(created.body.id));
  keep('SIGN-UP', await sell('SIGN-UP', { type: 'nfc_id', value: await signUp() }));
  keep('CARD-2', await sell('CARD-2', { type: 'nfc_sun', value: spentUrl }));
  lostCode = await addCode(demo);
  seen = await world.newestSequence();
  row = await restore();
});
after(() => world?.close());

describe('a sale in the lost period by a payer unknown to the restored database', () => {
  for (const order of ['OPEN-QR', 'NEW-QR', 'SIGN-UP']) {
    it(`is booked: ${order}`, async () => {
      const { intent, payment } = lostOf(order);
      const { body } = await merchant().get(`/payment_intents/${intent}`);
      assert.deepEqual([body.status, body.payment], ['succeeded', payment], JSON.stringify(body));
      assert.deepEqual(await merchant().get(`/payments/${payment}`).then(statusOf), [
        200,
        'succeeded',
      ]);
    });

    it(`is returned by a create with its order, and charged once: ${order}`, async () => {
      const again = await world.create(0, order, { key: `again ${order}` });
      assert.deepEqual([again.status, again.body.id], [201, lostOf(order).intent]);
      assert.equal(again.headers.get('Idempotent-Replayed'), 'true');
      assert.equal(await world.settledOnChain(order), 1);
    });

    it(`is refunded: ${order}`, async () => {
      const refund = await world.refund(0, { payment: lostOf(order).payment, amount: AMOUNT });
      // The refund stays pending right after the network has reopened.
      let now = refund;
      await waitUntil(async () => {
        now = await merchant().get(`/refunds/${refund.body.id}`);
        return now.body.status === 'succeeded';
      }, REST_MS);
      assert.equal(now.body.status, 'succeeded', JSON.stringify(now.body));
    });
  }

  it('shows the loss and leaves nothing to an operator', async () => {
    assert.deepEqual([row.loss_shown, row.payments], [true, 4]);
    const alarms = await world.db.query(
      `select kind, subject from chain_alarms where kind <> 'nonce_ahead' and resolved_at is null`,
    );
    assert.deepEqual(alarms, []);
  });
});

describe('a card and a code after a loss', () => {
  let request: Reply;

  it('a URL used in the lost period asks the payer to confirm, and charges nothing', async () => {
    const again = await sell('SPENT', { type: 'nfc_sun', value: spentUrl });
    assert.equal(again.body.status, 'requires_action', JSON.stringify(again.body));
    const next = again.body.next_action as { type: string; reason_code: string };
    assert.deepEqual([next.type, next.reason_code], ['payer_confirmation', 'CARD_AFTER_RECOVERY']);
    const answered = await answer(again, false);
    const error = answered.body.last_payment_error as { decline_code: string };
    assert.equal(error.decline_code, 'payer_rejected');
    assert.equal(await world.settledOnChain('SPENT'), 0);
    const third = await sell('SPENT-2', { type: 'nfc_sun', value: spentUrl });
    const refused = third.body.last_payment_error as { decline_code: string };
    assert.equal(refused.decline_code, 'pass_replayed', JSON.stringify(third.body));
  });

  it('each tap asks until the payer has approved one; later ones do not', async () => {
    request = await sell('OWN', { type: 'nfc_sun', value: ownUrl });
    assert.equal(request.body.status, 'requires_action', JSON.stringify(request.body));
    assert.equal((await answer(request, true)).status, 200);
    const next = await sell('NEXT', { type: 'nfc_sun', value: nextUrl });
    assert.equal(next.body.status, 'succeeded', JSON.stringify(next.body));
  });

  it('codes of the lost period have expired', async () => {
    for (const [order, value] of [
      ['CODE-1', unspentCode],
      ['CODE-2', lostCode],
    ] as const) {
      const answered = await sell(order, { type: 'qr', value });
      const error = answered.body.last_payment_error as { decline_code: string };
      assert.equal(error.decline_code, 'pass_code_expired', JSON.stringify(answered.body));
    }
  });
});

describe('events sent to a receiver before the loss', () => {
  it('have lower sequences than every rebuilt event', async () => {
    const rows = await world.db.query<{ sequence: bigint }>(
      `select min(e.position) as sequence from events e
       join payment_intents i on e.object_id in (i.id, i.payment_id)
       join network_recoveries r on r.livemode = e.livemode and e.created >= r.started
       where i.recovered`,
    );
    assert.ok((rows[0]?.sequence ?? 0n) > BigInt(seen), `${rows[0]?.sequence} after ${seen}`);
  });

  it('still satisfy every invariant once the network is idle', () => world.comeToRest());
});

function statusOf({ status, body }: Reply): readonly unknown[] {
  return [status, body.status];
}

function answer(request: Reply, approve: boolean): Promise<Reply> {
  const path = `/test_helpers/payment_intents/${request.body.id}/payer_confirm`;
  return persist(() => merchant().post(path, { approve }));
}
