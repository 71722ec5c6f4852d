import type { Hex } from '../data/bytes.ts';
import { call } from '../data/contract-calls.ts';
import type { Provider } from '../data/injected-wallets.ts';
import { element, fact, hexFact, timeWords, usdcWords } from '../ui/elements.ts';
import {
  type Announcement,
  type ContractState,
  readMerchant,
  readPermission,
  readState,
  rolesOf,
} from './contract-state.ts';
import { send, wouldBeTaken } from './send-from-wallet.ts';

export interface Facts {
  readonly chainId: number;
  readonly settlement: Hex;
  /** `null` if the connected wallet belongs to no merchant. */
  readonly merchant: number | null;
}

export interface Deps {
  readonly provider: Provider;
  readonly account: Hex;
  readonly facts: Facts;
  readonly status: HTMLElement;
}

interface Step {
  readonly to: Hex;
  readonly data: Hex;
}

/**
 * Sends the transactions in order; the wallet asks the user about each.
 * @returns the text to show.
 */
async function carryOut({ provider, account }: Deps, steps: readonly Step[]): Promise<string> {
  for (const { to, data } of steps) {
    const sending = { provider, from: account, to, data };
    if (!(await wouldBeTaken(sending))) {
      return 'The contract refuses this now: your wallet may not do it, or it is already done.';
    }
    const outcome = await send(sending);
    if (outcome === 'refused') return 'The contract has refused it. Nothing has changed.';
    if (outcome === 'unknown')
      return 'It was sent and is not in a block yet. Your wallet shows it.';
  }
  return 'Done: it is on the chain.';
}

/**
 * Returns a button that sends the transactions and shows the result. It is disabled while they are
 * being sent.
 */
function action(deps: Deps, name: string, steps: readonly Step[]): HTMLElement {
  const button = element('button', { class: 'act', type: 'button' }, name) as HTMLButtonElement;
  const said = element('p', { class: 'soft', role: 'status' });
  button.addEventListener('click', async () => {
    button.disabled = true;
    said.textContent = 'Confirm it in your wallet …';
    try {
      said.textContent = await carryOut(deps, steps);
    } catch {
      said.textContent = 'Your wallet did not send it, or you refused. Nothing has changed.';
    }
    button.disabled = false;
  });
  return element('div', { class: 'action' }, button, said);
}

function section(title: string, ...parts: readonly (Node | string)[]): HTMLElement {
  return element('section', { 'aria-label': title }, element('h2', {}, title), ...parts);
}

async function merchantSection(deps: Deps): Promise<HTMLElement[]> {
  const { merchant, settlement } = deps.facts;
  if (merchant === null) return [];
  const contract = { provider: deps.provider, settlement };
  const { wallet, balance, heldUntil } = await readMerchant(contract, merchant);
  const isOwn = wallet.toLowerCase() === deps.account.toLowerCase();
  const facts = element(
    'dl',
    {},
    fact('Balance', usdcWords(balance)),
    hexFact('Paid out to', wallet),
    ...(heldUntil * 1000 > Date.now() ? [fact('Nothing before', timeWords(heldUntil))] : []),
  );
  const data = call('withdrawOwn(uint32,uint64)', merchant, balance);
  const means =
    balance === 0n
      ? element('p', {}, 'There is nothing to withdraw.')
      : action(deps, `Withdraw ${usdcWords(balance)}`, [{ to: settlement, data }]);
  const other = element(
    'p',
    {},
    'Another wallet is connected. Only the payout wallet can withdraw this money.',
  );
  return [section(`Merchant ${merchant}`, facts, isOwn ? means : other)];
}

async function payerSection(deps: Deps): Promise<HTMLElement[]> {
  const { settlement } = deps.facts;
  const contract = { provider: deps.provider, settlement };
  const { token, allowance, hasPolicy } = await readPermission(contract, deps.account);
  if (allowance === 0n && !hasPolicy) return [];
  const steps = [
    ...(hasPolicy ? [{ to: settlement, data: call('revokePolicy()') }] : []),
    ...(allowance > 0n
      ? [{ to: token, data: call('approve(address,uint256)', settlement, 0n) }]
      : []),
  ];
  return [
    section(
      'What you pay with',
      element('p', {}, 'Your wallet lets the contract take payments. Revoke it, and nothing pays.'),
      action(deps, 'Revoke', steps),
    ),
  ];
}

function stopSection(deps: Deps, state: ContractState, roles: ReadonlySet<string>): HTMLElement[] {
  if (!roles.has('guardian') && !roles.has('watch')) return [];
  const { settlement: to } = deps.facts;
  const steps = [
    ...(state.settlingPaused ? [] : [{ to, data: call('pauseSettling()') }]),
    ...(state.refundingPaused ? [] : [{ to, data: call('pauseRefunding()') }]),
  ];
  const means =
    steps.length === 0
      ? element('p', {}, 'Settling and refunds are paused. The steward can resume them.')
      : action(deps, 'Pause', steps);
  return [section('Stop it', means)];
}

function announcementItem(
  deps: Deps,
  announced: Announcement,
  roles: ReadonlySet<string>,
): HTMLElement {
  const { says, by, from, cancel } = announced;
  const means = roles.has('guardian')
    ? [action(deps, 'Cancel', [{ to: deps.facts.settlement, data: cancel }])]
    : [];
  const when = element('p', { class: 'soft' }, `From ${timeWords(from)}, announced by ${by}.`);
  return element('li', {}, element('p', {}, says), when, ...means);
}

function announcements(deps: Deps, state: ContractState, roles: ReadonlySet<string>): HTMLElement {
  const items = state.announcements.map((one) => announcementItem(deps, one, roles));
  const list = element('ul', { class: 'announced' }, ...items);
  const none = element('p', {}, 'Nothing is announced.');
  return section('Announced', items.length === 0 ? none : list);
}

function paused(isPaused: boolean): string {
  return isPaused ? 'Paused' : 'Running';
}

function stateSection(state: ContractState): HTMLElement {
  const { held, owed, fees, holders } = state;
  const roles =
    holders === null
      ? [
          element(
            'p',
            { class: 'soft' },
            'Your wallet’s node lists neither the holders of roles nor announced roles. Check ' +
              'with another node before you rely on this page.',
          ),
        ]
      : [element('dl', {}, ...holders.map(({ role, account }) => hexFact(role, account)))];
  return section(
    'The contract now',
    element(
      'dl',
      {},
      fact('Settling', paused(state.settlingPaused)),
      fact('Refunds', paused(state.refundingPaused)),
      fact('Ceiling per hour', usdcWords(state.ceiling * 1_000_000n)),
      fact('Held', usdcWords(held)),
      fact('Owed to merchants', usdcWords(owed)),
      fact('Fees, not collected', usdcWords(fees)),
      fact('Left over', usdcWords(held - owed - fees)),
    ),
    element('h3', {}, 'Roles'),
    ...roles,
  );
}

/** Shows every action this wallet may take, then the contract's state. @throws NoContract */
export async function showContract(deps: Deps): Promise<HTMLElement[]> {
  const contract = { provider: deps.provider, settlement: deps.facts.settlement };
  const [roles, state] = await Promise.all([rolesOf(contract, deps.account), readState(contract)]);
  return [
    ...stopSection(deps, state, roles),
    ...(await merchantSection(deps)),
    ...(await payerSection(deps)),
    announcements(deps, state, roles),
    stateSection(state),
  ];
}
