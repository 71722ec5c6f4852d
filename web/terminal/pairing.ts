import type { Answer } from '../data/api.ts';
import { createDeviceApi, type Device, pairDevice, previewPairing } from '../data/device.ts';
import { askToLast } from '../data/lasting.ts';
import { refusalText } from '../data/refusal-text.ts';
import { t } from '../ui/text/t.ts';
import {
  keepPairing,
  keepSettings,
  keptRefund,
  keptSettings,
  keptTill,
  type Pairing,
} from './kept.ts';

/** What is told of a terminal before this device is it. */
export type ShownDevice = Omit<Device, 'tag_url' | 'brand_path' | 'time_zone' | 'language'>;

/** What a link, a code or a key would make of this device. */
export interface Target {
  /** The code or the key, as it was given. */
  readonly code: string;
  readonly device: ShownDevice;
  /** The code was made by somebody who had just proven a second factor. */
  readonly byFreshFactor: boolean;
}

export interface Problem {
  readonly problem: string;
}

function problemOf(answer: Exclude<Answer<unknown>, { is: 'done' }>): Problem {
  return { problem: answer.is === 'refused' ? refusalText(answer.error) : t('ui.unreachable') };
}

/** A device key works as it is: sandboxes and people with many devices hand them out. */
function isKey(code: string): boolean {
  return code.startsWith('tldk_');
}

/** Whose terminal it is. Nothing is used up and nothing changes. */
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
  keepPairing({ key: answer.value.device_key, terminal: answer.value.terminal });
  void askToLast();
  return null;
}

/** This device is that terminal from now on. @returns what went wrong, or null */
export async function become({ code, device }: Target): Promise<Problem | null> {
  if (!isKey(code)) return redeem(code);
  keepPairing({ key: code, terminal: device.id });
  void askToLast();
  return null;
}

/** A device that is not paired yet: nothing has to be compared. */
export async function pairNew(text: string): Promise<Problem | null> {
  const code = text.trim();
  if (!isKey(code)) return redeem(code);
  const target = await lookAt(code);
  return 'problem' in target ? target : become(target);
}

/** The PIN is forgotten: it ends. */
export function endPin(): void {
  keepSettings({ ...keptSettings(), pin: null, locked: false });
}

/**
 * Whether the PIN, the cashier and the shift stay: with the same terminal, and with another one of
 * the same merchant. Who gets a till from somebody else must not get their PIN with it.
 */
export function isSameMerchant({ pairing, from, to }: Pick<Change, 'pairing' | 'from' | 'to'>) {
  if (to.device.id === pairing.terminal) return true;
  return from !== null && from.merchant_name === to.device.merchant_name;
}

/** Of the merchant before: the till is another merchant’s from now on. */
export function forgetMerchant(): void {
  const former = { pin: null, locked: false, cashier: '', shiftSince: null, asksForTips: false };
  keepSettings({ ...keptSettings(), ...former });
}

/** What this device is now; null when the service does not know its key any more. */
export async function presentDevice({ key }: Pairing): Promise<Device | null | Problem> {
  const answer = await createDeviceApi(key).device();
  if (answer.is === 'done') return answer.value;
  return answer.is === 'refused' && answer.status === 401 ? null : problemOf(answer);
}

/** Whether money may be on its way here: what is kept of it must not be lost. */
function hasOpenPayment(): boolean {
  const { phase, orphan } = keptTill();
  const isIdle = phase.at === 'keypad' || phase.at === 'result';
  return !isIdle || orphan !== null || keptRefund() !== null;
}

/**
 * What a paired till asks before it becomes `to`:
 * - `nothing`: it is that terminal already, and somebody typed the code here.
 * - `press`: somebody at the till says yes.
 * - `pin`: the PIN of the till.
 * - `ends_pin`: a manager's fresh code of the same terminal opens a forgotten PIN.
 * - `manager`: real money goes elsewhere, and there is no PIN: a manager's code of this terminal.
 */
export type Proof = 'nothing' | 'press' | 'pin' | 'ends_pin' | 'manager';

export interface Change {
  readonly pairing: Pairing;
  /** null: its key has ended. */
  readonly from: Device | null;
  readonly to: Target;
  /** Typed here, or brought along by a link or a picture, which anybody can have made. */
  readonly way: 'typed' | 'link';
  readonly hasPin: boolean;
  readonly hasOpenPayment: boolean;
}

/** @returns what it asks for, or why it will not. */
export function proofFor(change: Change): Proof | Problem {
  const { pairing, from, to, way, hasPin } = change;
  const isSame = to.device.id === pairing.terminal;
  const isLive = pairing.key.startsWith('tldk_live');
  if (isSame) {
    if (hasPin) return to.byFreshFactor ? 'ends_pin' : 'pin';
    return way === 'typed' ? 'nothing' : 'press';
  }
  if (from !== null && change.hasOpenPayment) {
    return { problem: t('till.pairing.problem.open') };
  }
  if (isLive && !to.device.livemode && way === 'link') {
    return { problem: t('till.pairing.problem.live') };
  }
  if (hasPin) return 'pin';
  return isLive ? 'manager' : 'press';
}

/** Whether this code shows that a manager of the present terminal agrees. Uses the code up. */
export async function managerAgrees(code: string, pairing: Pairing): Promise<Problem | null> {
  const found = await lookAt(code);
  if ('problem' in found) return found;
  if (found.device.id !== pairing.terminal || !found.byFreshFactor) {
    return {
      problem: t('till.pairing.problem.unlock_code'),
    };
  }
  return become(found);
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
