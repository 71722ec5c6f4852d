import assert from 'node:assert/strict';
import { Secret } from 'otpauth';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Database } from '#db/database.ts';
import { codeOf, rotatingValue, stepAt } from '#payers/check-rotating-code.ts';
import type { PhoneKind } from '#payers/phone-tap.ts';
import { wallet } from '#sandbox/derive-wallets.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import type { Caller, Reply } from '#testkit/apis/api-client.ts';
import { caller } from '#testkit/apis/api-client.ts';
import { newWallet, signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { CardChip, type CardSettings } from '#testkit/fixtures/core/card-chip.ts';
import { persist } from '#testkit/simulation/restore-ground.ts';
import { enrolPayers } from '#testkit/simulation/ways/enrol-payers.ts';
import type { OutsideWallets, UndeployedWallet } from '#testkit/simulation/ways/outside-wallets.ts';
import type { Till } from '#testkit/simulation/ways/shops.ts';
import { type Facilitator, openFacilitator } from '../../../x402/src/index.ts';

/**
 * Kinds of payers. `enrolled`: has passes, and a policy on the chain. `agent`: pays with tokens of
 * an enrolled payer. The others are wallets that the service first sees when they pay: a plain
 * wallet, a contract, a new undeployed contract for each sale, or the bridge between x402 buyers
 * and a merchant.
 */
export type PayerKind = 'enrolled' | 'agent' | 'wallet' | 'contract' | 'undeployed' | 'bridge';

export type WayPayer = ReturnType<typeof assemble>;

export interface PayersGround {
  readonly db: Database;
  readonly secret: Buffer;
  readonly network: NetworkConfig;
  readonly publicUrl: string;
  readonly outside: OutsideWallets;
  /** The facilitators that are open, to be closed at the end. */
  readonly facilitators: Facilitator[];
}

const FUNDS = 10_000_000_000n;
const LIMITS = { perPayment: 100_000_000, perDay: 1_000_000_000 };
/**
 * Time for which a facilitator waits before it responds with "pending" and must be called again.
 */
const SETTLE_MS = 5_000;

/**
 * Maximum number of phones for each payer. A payer may have 16 passes, not all of which are phones.
 */
const MOST_PHONES = 8;
const PHONE = 'A phone';

/**
 * Returns a function that returns the facilitator of a till. It opens the facilitator at the first
 * sale, with the merchant's key and the bridge's wallet.
 */
function openFacilitators({ network, publicUrl, facilitators }: PayersGround, privateKey: Hex) {
  const open = new Map<string, Promise<Facilitator>>();
  const [rpcUrl = ''] = network.rpcUrls;
  return (till: Till): Promise<Facilitator> => {
    const { account, secretKey: apiKey, agentTerminal: terminal } = till;
    const known = open.get(terminal);
    if (known !== undefined) return known;
    const baseUrl = `${publicUrl}/api`;
    const limits = LIMITS;
    const settings = { baseUrl, apiKey, account, terminal, privateKey, rpcUrl, limits };
    const opening = openFacilitator({ ...settings, waitMs: SETTLE_MS, onError: () => {} });
    open.set(terminal, opening);
    return opening.then((facilitator) => {
      facilitators.push(facilitator);
      return facilitator;
    });
  };
}

interface Wallet {
  readonly from: Hex;
  readonly account: PrivateKeyAccount;
  readonly privateKey: Hex;
  /** The pass; `null` if the payer is not enrolled. */
  readonly pass: string | null;
}

/**
 * Returns a function that adds phones with rotating codes, and later takes turns among them,
 * because one phone's code can pay only once in each time step.
 */
function openPhones(ask: ReturnType<typeof openApp>) {
  const phones: string[] = [];
  return async () => {
    const isNew = phones.length < MOST_PHONES;
    const id = isNew ? String((await ask('/passes', { label: PHONE })).id) : phones.shift();
    assert.ok(id !== undefined);
    phones.push(id);
    const { key } = await ask(`/passes/${id}/rotating_key`, {});
    const { bytes } = Secret.fromBase32(String(key));
    return () => rotatingValue(id, codeOf(Buffer.from(bytes), stepAt(new Date())));
  };
}

/** Returns functions that show the payer's newest pass, as a code or on a phone. */
function showingPass({ db }: PayersGround, ask: ReturnType<typeof openApp>) {
  const newestPass = async () => {
    const { data } = (await ask('/passes')) as unknown as { data: { id: string; label: string }[] };
    return data.find(({ label }) => label !== PHONE)?.id ?? '';
  };
  return {
    /** Returns a new payment code, which stays valid for more than an hour in these tests. */
    code: async () => {
      const { value } = await ask(`/passes/${await newestPass()}/codes`, {});
      // Extends the lifetime of the code, which is a minute. Otherwise, a second sale could be
      // refused because the code expired, which would hide the intended reason.
      await db.query(
        `update pass_codes set expires_at = expires_at + interval '1 hour'
         where expires_at > now()`,
      );
      return String(value);
    },
    /**
     * Puts the newest pass on a phone. @returns a function that returns what the phone sends to a
     * reader, from a test helper of the merchant API
     */
    phone: async (kind: PhoneKind) => {
      const path = `/test_helpers/passes/${await newestPass()}/${kind}`;
      return async (merchant: Caller) => {
        const { status, body } = await merchant.post(path);
        // Throws if the node cannot answer; then the tap is repeated at the other node.
        assert.equal(status, 201, JSON.stringify(body));
        return String(body.value);
      };
    },
  };
}

function assemble(ground: PayersGround, kind: PayerKind, made: Wallet) {
  const { from, account, privateKey } = made;
  const ask = openApp(ground, account);
  let { pass } = made;
  let chip: Promise<CardChip> | null = null;
  const write = async () => new CardChip((await ask('/cards', {})) as unknown as CardSettings);
  const current = () => {
    chip ??= write();
    return chip;
  };
  return {
    kind,
    /** The address that is charged. */
    from,
    /** The account that signs. */
    account,
    /** Returns the id on the chip of the payer's pass. */
    pass: () => pass ?? '',
    ...showingPass(ground, ask),
    /** Adds a phone for rotating codes. @returns a function that returns its current code. */
    rotating: openPhones(ask),
    /** Returns the chip of the payer's current card. */
    chip: current,
    /** Replaces the payer's pass and card. */
    renew: async () => {
      pass = String((await ask('/passes', { label: 'Another' })).nfc_id);
      chip = write();
      await chip;
    },
    agentToken: async (merchant: string, amount: number) => {
      const body = { account: merchant, amount, expires_in: 3_600 };
      return String((await ask('/agent_tokens', body)).agent_token);
    },
    /** Creates a funded wallet for a machine that has not bought anything yet. */
    buyer: async () => {
      const buyer = newWallet();
      await ground.outside.fund(buyer.address, FUNDS);
      return buyer;
    },
    /** Creates a funded contract wallet that is not deployed yet. */
    undeployed: (): Promise<UndeployedWallet> => ground.outside.addUndeployed(FUNDS),
    facilitator: openFacilitators(ground, privateKey),
  };
}

/** Adds one payer of each of these kinds, in this order. `label` makes their names unique. */
export async function addPayers(
  ground: PayersGround,
  kinds: readonly PayerKind[],
  label: string,
): Promise<WayPayer[]> {
  const { secret, network, outside } = ground;
  const nameOf = (position: number) => `${label}_${position}`;
  const enrolled = kinds.flatMap((kind, position) =>
    kind === 'enrolled' || kind === 'agent' ? [nameOf(position)] : [],
  );
  const passes = enrolled.length === 0 ? {} : await enrolPayers(ground, enrolled, FUNDS);
  const payers: WayPayer[] = [];
  for (const [position, kind] of kinds.entries()) {
    const pass = passes[nameOf(position)];
    if (pass !== undefined) {
      const account = wallet(secret, `${network.network} payer ${nameOf(position)}`);
      payers.push(
        assemble(ground, kind, { account, from: account.address, privateKey: '0x', pass }),
      );
    } else {
      const made = await outside.add(kind === 'contract' ? 'contract' : 'key', FUNDS);
      payers.push(assemble(ground, kind, { ...made, pass: null }));
    }
  }
  return payers;
}

/** Opens a payer's app. It signs in again when its session has expired. */
function openApp(
  { publicUrl, network }: { readonly publicUrl: string; readonly network: NetworkConfig },
  account: PrivateKeyAccount,
) {
  const { chainId } = network;
  let app: Promise<Caller> | null = null;
  const signIn = async () => {
    const token = await signInWallet(publicUrl, account, { chainId });
    return caller(`${publicUrl}/api/payer/v1`, token);
  };
  const ask = async (path: string, body?: object): Promise<Reply> => {
    app ??= signIn();
    const open = await app;
    return body === undefined ? open.get(path) : open.post(path, body);
  };
  return async (path: string, body?: object): Promise<Reply['body']> => {
    const answer = await persist(async () => {
      const first = await ask(path, body);
      // The session has expired, or the wallet's last signature is too old for this request.
      if (first.status !== 401 && first.status !== 403) return first;
      app = null;
      return ask(path, body);
    });
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
}
