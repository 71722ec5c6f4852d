import type { Answer } from '../data/api.ts';
import { createDeviceApi, type Device } from '../data/device-api.ts';
import { pairDevice, previewPairing } from '../data/pair-api.ts';
import { askToLast } from '../data/persistent-storage.ts';
import { refusalText } from '../data/refusal-text.ts';
import { t } from '../ui/text/t.ts';
import { isBetweenSales } from './till-machine.ts';
import {
  keepPairing,
  keepSettings,
  keepTill,
  keptRefund,
  keptSettings,
  keptTill,
  type Pairing,
} from './till-storage.ts';

/** The facts about a terminal that the service reveals before this device is paired with it. */
export type ShownDevice = Pick<Device, 'id' | 'merchant_name' | 'label' | 'livemode'>;

/** The terminal that a link, code or key would pair this device with. */
export interface Target {
  /** The code or the key, as entered. */
  readonly code: string;
  readonly device: ShownDevice;
  /** True if the user who created the code had just proven a second factor. */
  readonly byFreshFactor: boolean;
}

export interface Problem {
  readonly problem: string;
}

function problemOf(answer: Exclude<Answer<unknown>, { is: 'done' }>): Problem {
  return { problem: answer.is === 'refused' ? refusalText(answer.error) : t('ui.unreachable') };
}

/**
 * True if a device key was entered instead of a code; sandboxes and large roll-outs hand out keys.
 */
function isKey(code: string): boolean {
  return code.startsWith('tldk_');
}

/** Looks up the terminal of a code, without consuming the code or changing anything. */
export async function lookAt(text: string): Promise<Target | Problem> {
  const code = text.trim();
  if (isKey(code)) {
    const answer = await createDeviceApi(code).device();
    if (answer.is !== 'done') return problemOf(answer);
    return { code, device: answer.value, byFreshFactor: false };
  }
  const answer = await previewPairing(code);
  if (answer.is !== 'done') return problemOf(answer);
  return { code, device: answer.value, byFreshFactor: answer.value.by_fresh_factor };
}

async function redeem(code: string): Promise<Problem | null> {
  const answer = await pairDevice(code);
  if (answer.is !== 'done') return problemOf(answer);
  await keepPairing({ key: answer.value.device_key, terminal: answer.value.terminal });
  void askToLast();
  return null;
}

/** Pairs this device with the terminal. @returns the problem, or `null` on success. */
export async function become({ code, device }: Target): Promise<Problem | null> {
  if (!isKey(code)) return redeem(code);
  await keepPairing({ key: code, terminal: device.id });
  void askToLast();
  return null;
}

/** Pairs a device that has no pairing yet, so there is nothing to compare. */
export async function pairNew(text: string): Promise<Problem | null> {
  const code = text.trim();
  if (!isKey(code)) return redeem(code);
  const target = await lookAt(code);
  return 'problem' in target ? target : become(target);
}

/** Removes the till's PIN and unlocks the till. Call it only if a manager has agreed. */
export function endPin(): void {
  keepSettings({ ...keptSettings(), pin: null, locked: false });
}

/**
 * True if the PIN, cashier and shift may be kept: for the same terminal, and for another terminal
 * of the same merchant. A device that moves to another merchant must not keep the previous owner's
 * PIN.
 */
export function isSameMerchant({ pairing, from, to }: Pick<Change, 'pairing' | 'from' | 'to'>) {
  if (to.device.id === pairing.terminal) return true;
  return from !== null && from.merchant_name === to.device.merchant_name;
}

/** True if held carts may be kept: in the same shop and mode, even if the old key has ended. */
function keepsHeld({ pairing, from, to: { device } }: Change): boolean {
  if (device.id === pairing.terminal) return true;
  const isLive = pairing.key.startsWith('tldk_live');
  const shop = from?.merchant_name ?? keptTill().held?.shop;
  return device.merchant_name === shop && device.livemode === isLive;
}

/** Pairs this device anew, and removes what belongs to another shop. */
export async function becomeAnew(change: Change): Promise<Problem | null> {
  const keeps = keepsHeld(change);
  const problem = await become(change.to);
  if (problem !== null) return problem;
  if (!keeps) keepTill({ ...keptTill(), held: null });
  if (!isSameMerchant(change)) forgetMerchant();
  return null;
}

/** Removes the previous merchant's settings when the till moves to another merchant. */
export function forgetMerchant(): void {
  const former = {
    pin: null,
    locked: false,
    cashier: '',
    person: null,
    ...{ shiftSince: null, ending: null, ended: null },
    asksForTips: false,
  };
  keepSettings({ ...keptSettings(), ...former });
}

/**
 * Returns the terminal with which this device is paired, or `null` if the service no longer accepts
 * its key.
 */
export async function presentDevice({ key }: Pairing): Promise<Device | null | Problem> {
  const answer = await createDeviceApi(key).device();
  if (answer.is === 'done') return answer.value;
  return answer.is === 'refused' && answer.status === 401 ? null : problemOf(answer);
}

/** True if a payment may be in flight here; its stored state must then be kept. */
function hasOpenPayment(): boolean {
  const { phase, orphan } = keptTill();
  return !isBetweenSales(phase) || orphan !== null || keptRefund() !== null;
}

/**
 * The confirmation that a paired till requires before it becomes `to`:
 * - `nothing`: it is that terminal already, and the code was typed here.
 * - `click`: a click by the person at the till.
 * - `pin`: the till's PIN.
 * - `ends_pin`: a manager's fresh code for the same terminal, which removes a forgotten PIN.
 * - `manager`: a manager's code for the current terminal, because real money would go elsewhere and
 * there is no PIN.
 */
export type Proof = 'nothing' | 'click' | 'pin' | 'ends_pin' | 'manager';

export interface Change {
  readonly pairing: Pairing;
  /** `null` if the device's key is no longer valid. */
  readonly from: Device | null;
  readonly to: Target;
  /**
   * The source of the code: typed at the till, or from a link or QR code, which an attacker may
   * have made.
   */
  readonly way: 'typed' | 'link';
  readonly hasPin: boolean;
  readonly hasOpenPayment: boolean;
}

/** Returns the required proof, or the reason why the change is refused. */
export function proofFor(change: Change): Proof | Problem {
  const { pairing, from, to, way, hasPin } = change;
  const isSame = to.device.id === pairing.terminal;
  const isLive = pairing.key.startsWith('tldk_live');
  if (isSame) {
    if (hasPin) return to.byFreshFactor ? 'ends_pin' : 'pin';
    return way === 'typed' ? 'nothing' : 'click';
  }
  if (from !== null && change.hasOpenPayment) {
    return { problem: t('till.pairing.problem.open') };
  }
  if (isLive && !to.device.livemode && way === 'link') {
    return { problem: t('till.pairing.problem.live') };
  }
  if (hasPin) return 'pin';
  return isLive ? 'manager' : 'click';
}

/** True if the code proves that a manager of the current terminal agrees. Consumes the code. */
export async function managerAgrees(code: string, pairing: Pairing): Promise<Problem | null> {
  const result = await lookAt(code);
  if ('problem' in result) return result;
  if (result.device.id !== pairing.terminal || !result.byFreshFactor) {
    return {
      problem: t('till.pairing.problem.unlock_code'),
    };
  }
  return become(result);
}

export async function changeTo(
  to: Target,
  pairing: Pairing,
  way: Change['way'],
): Promise<Change | Problem> {
  const from = await presentDevice(pairing);
  if (from !== null && 'problem' in from) return from;
  const hasPin = keptSettings().pin !== null;
  return { pairing, from, to, way, hasPin, hasOpenPayment: hasOpenPayment() };
}
