import type { ReactNode } from 'react';
import { DialogButton } from '../../desk/dialog-button.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { useRead } from '../use-operator.ts';
import type { Proposal } from './proposal-words.ts';

const OF_THE_CONTRACT: readonly string[] = ['pause', 'unpause', 'change_rates'];

/**
 * Lists the transactions that the holder of the contract's key sends after two operators have
 * approved.
 */
export function Transactions({ proposal }: { readonly proposal: Proposal }): ReactNode {
  const { kind, status } = proposal;
  if (status !== 'approved' || !OF_THE_CONTRACT.includes(kind)) return null;
  return (
    <DialogButton words="Transactions">
      {(close) => <TransactionsDialog id={proposal.id} onClose={close} />}
    </DialogButton>
  );
}

interface TransactionsDialogProps {
  readonly id: string;
  readonly onClose: () => void;
}

function TransactionsDialog({ id, onClose }: TransactionsDialogProps): ReactNode {
  const query = useRead('GET /proposals/{id}/transactions', { path: { id } });
  return (
    <Dialog title="For the holder of the key" onClose={onClose}>
      <p>
        Send these from the wallet that each names, in this order. The service has no key that
        could.
      </p>
      <Loaded query={query}>
        {({ data }) => (
          <ol className="stack">
            {data.map(({ by, says, chain_id: chain, to, data: bytes }) => (
              <li key={bytes} className="stack stack-tight">
                <strong>{says}</strong>
                <FactList>
                  <Fact name="Sent by">{by}</Fact>
                  <Fact name="Chain">{String(chain)}</Fact>
                  <Fact name="Value">0</Fact>
                </FactList>
                <CopyField label="To" value={to} />
                <CopyField label="Data" value={bytes} />
              </li>
            ))}
          </ol>
        )}
      </Loaded>
      <div className="row">
        <Button onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}
