import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { partOf } from '../../ui/lazy-part.ts';
import { become, type Change, changeTo, lookAt, pairNew, proofFor } from '../pair-device.ts';
import { hasCamera } from '../reader/camera.ts';
import type { Pairing } from '../till-storage.ts';
import './pair.css';
import { t } from '../../ui/text/t.ts';

const PairAgain = partOf(async () => (await import('./pair-again.tsx')).PairAgain);
const ScanDialog = partOf(async () => (await import('./scan.tsx')).ScanDialog);

/** Returns the code in a dashboard link, or the typed code itself. */
function codeIn(text: string): string {
  const [, code] = /#(?:pair|key)=([^&\s]+)/.exec(text) ?? [];
  return decodeURIComponent(code ?? text);
}

interface PairFormProps {
  /** A code from a link, which is looked up immediately. */
  readonly code: string | null;
  /** The device's current pairing, or `null`. */
  readonly pairing: Pairing | null;
  readonly onPaired: () => void;
  readonly onBack: () => void;
}

export interface PairScreenProps extends PairFormProps {
  /** True if the device key cannot be read, and no other pairing was asked for. */
  readonly isStuck: boolean;
  readonly onPairAgain: () => void;
}

type Way = Change['way'];

/**
 * Looks up a code.
 * @returns the problem, the change that needs proof first, or `null` on success.
 */
async function pair(
  text: string,
  pairing: Pairing | null,
  way: Way,
): Promise<{ readonly problem: string } | Change | null> {
  if (pairing === null) return pairNew(text);
  const target = await lookAt(text);
  if ('problem' in target) return target;
  if (target.code === pairing.key) return null;
  const change = await changeTo(target, pairing, way);
  if ('problem' in change) return change;
  return proofFor(change) === 'nothing' ? become(target) : change;
}

/**
 * Looks up codes that were entered or came with a link. A device without a pairing pairs
 * immediately.
 */
function usePairing({ code, pairing, onPaired }: PairFormProps) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [change, setChange] = useState<Change | null>(null);
  const started = useRef(false);
  const send = async (text: string, way: Way) => {
    setBusy(true);
    const result = await pair(text, pairing, way);
    setBusy(false);
    if (result === null) return onPaired();
    if ('problem' in result) setProblem(result.problem);
    else setChange(result);
  };
  useEffect(() => {
    if (code === null || started.current) return;
    started.current = true;
    void send(code, 'link');
  });
  return { busy, problem, setProblem, change, send };
}

export function PairScreen(props: PairScreenProps): ReactNode {
  return props.isStuck ? <NoStorage {...props} /> : <PairForm {...props} />;
}

function PairForm(props: PairFormProps): ReactNode {
  const [typed, setTyped] = useState(props.code ?? '');
  const [scanning, setScanning] = useState(false);
  const { busy, problem, setProblem, change, send } = usePairing(props);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed.trim() === '') setProblem(t('till.pair.problem.code'));
    else if (!busy) void send(typed, 'typed');
  };
  if (change !== null) return <PairAgain change={change} {...props} />;
  return (
    <main className="sheet">
      <title>{t('till.pair.page')}</title>
      <form className="stack" onSubmit={submit} noValidate>
        <img className="pair-logo" src="icons/tapline.svg" alt="" />
        <h1>{t('till.pair.heading')}</h1>
        <p className="soft">{t('till.pair.text')}</p>
        <TextField
          data-name="Pairing code"
          label={t('till.pair.code')}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          error={problem}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          placeholder="XXXX-XXXX"
          translate="no"
          className="input pair-code"
        />
        <Button data-name="Pair" type="submit" kind="primary" large busy={busy}>
          {t('till.pair.button')}
        </Button>
        {hasCamera() ? (
          <Button onClick={() => setScanning(true)}>{t('till.pair.scan_button')}</Button>
        ) : null}
        {props.pairing === null ? null : (
          <Button kind="quiet" onClick={props.onBack}>
            {t('till.pair.back_button')}
          </Button>
        )}
      </form>
      {scanning ? (
        <ScanDialog
          title={t('till.pair.scan_heading')}
          isOwn={(text) => codeIn(text) !== text}
          onClose={() => setScanning(false)}
          onCode={(text) => {
            setScanning(false);
            setTyped(codeIn(text));
            void send(codeIn(text), 'link');
          }}
        />
      ) : null}
    </main>
  );
}

/** Shows that the device key cannot be read. The till keeps trying. */
function NoStorage({ onPairAgain }: Pick<PairScreenProps, 'onPairAgain'>): ReactNode {
  return (
    <main className="sheet stack" role="alert">
      <h1>{t('till.no_storage.heading')}</h1>
      <p>{t('till.no_storage.unpaired')}</p>
      <Button kind="primary" large onClick={() => location.reload()}>
        {t('ui.broken.button')}
      </Button>
      <Button data-name="Pair" onClick={onPairAgain}>
        {t('till.bar.pair_again')}
      </Button>
    </main>
  );
}
