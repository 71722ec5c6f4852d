import { type ReactNode, useState } from 'react';
import type { Hex } from '../../data/bytes.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Facts } from '../../ui/table.tsx';
import { type TextKey, t } from '../../ui/text/t.ts';
import type { ChainFacts } from '../sign-permit-and-transfer.ts';
import {
  type ChainNode,
  type ChainTruth,
  OtherChain,
  readableCoin,
  readChain,
} from '../wallet-chain-node.ts';
import { ProblemNotice } from './problem-notice.tsx';

export interface ChainTruthProps {
  readonly node: ChainNode | null;
  readonly chain: ChainFacts;
  readonly address: Hex;
  readonly truth: ChainTruth | null;
  readonly onRead: (truth: ChainTruth) => void;
}

const idOf = (text: string) => <span className="id">{text}</span>;

const SILENT: Readonly<Record<ChainNode['kind'], TextKey>> = {
  browser_wallet: 'wallet.chain.problem.wallet_silent',
  public_node: 'wallet.chain.problem.node_silent',
};

function otherChain({ kind }: ChainNode, { chainId }: ChainFacts): string {
  return kind === 'browser_wallet'
    ? t('wallet.chain.problem.wallet_elsewhere', { chain: String(chainId) })
    : t('wallet.chain.problem.node_elsewhere', { chain: String(chainId) });
}

/** Shows the state on chain, if a node is available. */
export function ChainTruthPart(props: ChainTruthProps): ReactNode {
  const { node, chain, address, truth, onRead } = props;
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  if (node === null) {
    return (
      <Notice tone="info">
        {t('wallet.chain.no_node')}
        <Facts
          facts={[
            [t('wallet.chain.token'), idOf(chain.usdc)],
            [t('wallet.chain.owner'), idOf(address)],
            [t('wallet.chain.spender'), idOf(chain.settlement)],
          ]}
        />
      </Notice>
    );
  }
  const ask = async () => {
    setBusy(true);
    setProblem(null);
    try {
      onRead(await readChain(node, chain, address));
    } catch (error) {
      setProblem(error instanceof OtherChain ? otherChain(node, chain) : t(SILENT[node.kind]));
    }
    setBusy(false);
  };
  return (
    <>
      {truth === null ? null : (
        <Facts
          facts={[
            [t('wallet.chain.allowance'), <Amount key="allowance" atoms={truth.allowance} />],
            [t('wallet.chain.balance'), <Amount key="balance" atoms={truth.balance} />],
            [t('wallet.chain.coin'), readableCoin(truth.coin)],
          ]}
        />
      )}
      {node.kind === 'public_node' ? (
        <p className="soft small">
          {t('wallet.chain.read_from', { host: new URL(chain.rpcUrl ?? '').host })}
        </p>
      ) : null}
      <ProblemNotice problem={problem} />
      <div className="row">
        <Button busy={busy} onClick={ask}>
          {truth === null ? t('wallet.chain.ask_button') : t('wallet.chain.ask_again_button')}
        </Button>
      </div>
    </>
  );
}
