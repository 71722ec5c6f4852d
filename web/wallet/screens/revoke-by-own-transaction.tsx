import { type FormEvent, type ReactNode, useState } from 'react';
import type { Hex } from '../../data/bytes.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { readWhole } from '../../ui/whole-number.ts';
import type { Vault } from '../key-vault.ts';
import type { ChainFacts } from '../sign-permit-and-transfer.ts';
import {
  type ChainNode,
  type ChainTruth,
  endPermission,
  formatGwei,
  GAS_LIMIT,
  parseGwei,
  readableCoin,
  sendRaw,
} from '../wallet-chain-node.ts';
import { ProblemNotice } from './problem-notice.tsx';
import { OpenerField } from './unlock-method.tsx';
import { useUnlocking } from './use-unlocking.ts';

/** The nonce of a wallet that has never sent a transaction. */
const FIRST_NONCE = 0;
/**
 * Default fee in wei per gas, enough on the inexpensive chains that are common for USDC. A node's
 * estimate is better.
 */
const USUAL_FEE = 2_000_000_000n;

interface SendProps {
  readonly node: ChainNode | null;
  readonly raw: Hex;
  readonly onSent: () => void;
}

/** Shows the signed transaction, to send through a node or to copy elsewhere. */
function SignedTransaction({ node, raw, onSent }: SendProps): ReactNode {
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<{ readonly ok: boolean; readonly words: string } | null>(null);
  const send = async (to: ChainNode) => {
    setBusy(true);
    try {
      const hash = await sendRaw(to, raw);
      setSaid({ ok: true, words: t('wallet.end.sent', { hash }) });
      onSent();
    } catch {
      setSaid({ ok: false, words: t('wallet.end.problem.refused') });
    }
    setBusy(false);
  };
  return (
    <>
      <CopyField label={t('wallet.end.transaction')} value={raw} />
      <p className="soft small">{t('wallet.end.transaction_text')}</p>
      {said === null ? null : (
        <Notice tone={said.ok ? 'good' : 'bad'} role={said.ok ? 'status' : 'alert'}>
          <p>{said.words}</p>
        </Notice>
      )}
      {node === null ? null : (
        <div className="row">
          <Button kind="danger" busy={busy} onClick={() => void send(node)}>
            {node.kind === 'public_node'
              ? t('wallet.end.send_node_button')
              : t('wallet.end.send_wallet_button')}
          </Button>
        </div>
      )}
    </>
  );
}

interface Typed {
  readonly nonce: string;
  readonly gwei: string;
}

function typedOf(truth: ChainTruth | null): Typed {
  const { nonce, maxFeePerGas } = truth ?? { nonce: FIRST_NONCE, maxFeePerGas: USUAL_FEE };
  return { nonce: String(nonce), gwei: formatGwei(maxFeePerGas) };
}

interface FeeFieldsProps {
  readonly typed: Typed;
  readonly truth: ChainTruth | null;
  readonly onChange: (typed: Typed) => void;
}

function FeeFields({ typed, truth, onChange }: FeeFieldsProps): ReactNode {
  const fee = parseGwei(typed.gwei);
  const needed = fee === null ? null : GAS_LIMIT * fee;
  const isShort = truth !== null && needed !== null && truth.coin < needed;
  return (
    <>
      <div className="terms">
        <TextField
          label={t('wallet.end.nonce')}
          inputMode="numeric"
          autoComplete="off"
          value={typed.nonce}
          error={readWhole(typed.nonce) !== null ? null : t('wallet.end.problem.nonce')}
          onChange={(event) => onChange({ ...typed, nonce: event.target.value })}
        />
        <TextField
          label={t('wallet.end.gas_price')}
          inputMode="decimal"
          autoComplete="off"
          value={typed.gwei}
          error={fee === null ? t('wallet.end.problem.gas_price') : null}
          onChange={(event) => onChange({ ...typed, gwei: event.target.value })}
        />
      </div>
      {needed === null ? null : (
        <p>
          {t('wallet.end.gas_needed', { gas: Number(GAS_LIMIT), coin: readableCoin(needed) })}
          {isShort ? ` ${t('wallet.end.gas_short')}` : ''}
        </p>
      )}
    </>
  );
}

export interface SignedEndProps {
  readonly vault: Vault;
  readonly chain: ChainFacts;
  readonly truth: ChainTruth | null;
  readonly node: ChainNode | null;
  readonly onSent: () => void;
}

/** Revokes the approval with a transaction of the wallet itself, without the service. */
export function SignedEnd({ vault, chain, truth, node, onSent }: SignedEndProps): ReactNode {
  const [typed, setTyped] = useState(() => typedOf(truth));
  const [raw, setRaw] = useState<Hex | null>(null);
  const maxFeePerGas = parseGwei(typed.gwei);
  const nonce = readWhole(typed.nonce);
  const isTyped = maxFeePerGas !== null && nonce !== null;
  const opening = useUnlocking(vault, async (account) => {
    if (!isTyped) return;
    const { signTransaction } = await import('../private-key-account.ts');
    const call = { chainId: chain.chainId, to: chain.usdc, data: endPermission(chain) };
    const transaction = { ...call, nonce, gas: GAS_LIMIT, maxFeePerGas };
    setRaw(await signTransaction(account, transaction));
  });
  const { password, setPassword, busy, wrong, problem } = opening;
  const sign = (event: FormEvent) => {
    event.preventDefault();
    if (isTyped) opening.submit(event);
  };
  return (
    <form className="stack" onSubmit={sign} noValidate>
      <FeeFields typed={typed} truth={truth} onChange={setTyped} />
      <OpenerField vault={vault} password={password} error={wrong} onChange={setPassword} />
      <ProblemNotice problem={problem} />
      <div className="row">
        <Button type="submit" kind={raw === null ? 'primary' : 'plain'} busy={busy}>
          {t('wallet.end.sign_button')}
        </Button>
      </div>
      {raw === null ? null : <SignedTransaction node={node} raw={raw} onSent={onSent} />}
    </form>
  );
}
