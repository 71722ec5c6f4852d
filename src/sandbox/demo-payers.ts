import { newId } from '#core/ids.ts';
import type { Database, Tx } from '#db/database.ts';
import { createPass } from '#payers/create-pass.ts';
import { createPayer } from '#payers/create-payer.ts';
import { revokePassRow, updatePayerBlocked, updatePayerLimits } from '#payers/payer-queries.ts';
import { type DemoWallet, signEnrolment } from '#sandbox/demo-wallets.ts';
import { payerWalletName, wallet } from '#sandbox/derive-wallets.ts';
import { requestOnChain } from '#settlement/chain-requests.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

export interface DemoPayersInput {
  readonly network: NetworkConfig;
  readonly secret: Buffer;
  readonly wallets: Readonly<Record<string, DemoWallet>>;
  /** True if USDC can be minted on this network; otherwise the wallets stay empty. */
  readonly funded: boolean;
  readonly now: Date;
}

interface Signed {
  readonly name: string;
  readonly demo: DemoWallet;
  readonly enrolment: Awaited<ReturnType<typeof signEnrolment>>;
}

/** Sets a demo payer's state, except for its wallet, as if a payer had set it in the app. */
async function applyState(
  tx: Tx,
  person: { readonly name: string; readonly payerId: string; readonly passId: string },
  now: Date,
): Promise<void> {
  const { name, payerId } = person;
  if (name === 'revoked') await revokePassRow(tx, { id: person.passId, payerId, now });
  if (name === 'blocked') await updatePayerBlocked(tx, payerId, now);
  if (name === 'confirm') {
    const limits = { limit_per_payment: null, limit_per_day: null };
    await updatePayerLimits(tx, { id: payerId, ...limits, confirm_first_payment: true });
  }
}

/** Requests funds, policy and allowance for one wallet, like any payer. */
async function requestFunds(
  tx: Tx,
  signed: Signed,
  wish: { readonly livemode: boolean; readonly now: Date },
): Promise<string[]> {
  const { demo, enrolment } = signed;
  const subjects = demo.funds > 0n ? [newId('request', wish.now)] : [];
  for (const subjectId of subjects) {
    const payload = { to: enrolment.payer, amount: demo.funds.toString() };
    await requestOnChain(tx, { ...wish, kind: 'faucet', subjectId, payload });
  }
  const subjectId = newId('request', wish.now);
  await requestOnChain(tx, { ...wish, kind: 'enrolment', subjectId, payload: enrolment });
  return [...subjects, subjectId];
}

/**
 * Creates a network's demo payers and their passes in one transaction.
 * @returns the passes' secrets by name, and the settlement jobs to wait for.
 */
export async function createDemoPayers(
  db: Database,
  input: DemoPayersInput,
): Promise<{ readonly passes: Record<string, string>; readonly subjects: string[] }> {
  const { network, now } = input;
  const { livemode } = network;
  const signed = await Promise.all(
    Object.entries(input.wallets).map(async ([name, demo]): Promise<Signed> => {
      const account = wallet(input.secret, payerWalletName(network.network, name));
      const money = input.funded ? demo : { ...demo, funds: 0n };
      return { name, demo: money, enrolment: await signEnrolment(demo, { account, network, now }) };
    }),
  );
  return db.transaction(async (tx) => {
    const passes: Record<string, string> = {};
    const subjects: string[] = [];
    for (const one of signed) {
      const address = one.enrolment.payer;
      const payer = await createPayer(tx, { livemode, address, now });
      const label = `Demo: ${one.name}`;
      const pass = await createPass(tx, { payerId: payer.id, label, now });
      passes[one.name] = pass.secret;
      await applyState(tx, { name: one.name, payerId: payer.id, passId: pass.row.id }, now);
      subjects.push(...(await requestFunds(tx, one, { livemode, now })));
    }
    return { passes, subjects };
  });
}
