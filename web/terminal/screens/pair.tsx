import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import type { Answer } from '../../data/api.ts';
import { createDeviceApi, pairDevice } from '../../data/device.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { partOf } from '../../ui/part.ts';
import { keepPairing } from '../kept.ts';
import { hasCamera } from '../reader/camera.ts';
import './pair.css';

const ScanDialog = partOf(async () => (await import('./scan.tsx')).ScanDialog);

const UNREACHABLE = 'The service cannot be reached. Check the connection and try again.';

function problemOf(answer: Exclude<Answer<unknown>, { is: 'done' }>): string {
  return answer.is === 'refused' ? answer.error.message : UNREACHABLE;
}

/** A device key works as it is: sandboxes and people with many devices hand them out. */
async function keyFor(code: string): Promise<{ key: string } | { problem: string }> {
  if (code.startsWith('tldk_')) return { key: code };
  const answer = await pairDevice(code);
  return answer.is === 'done' ? { key: answer.value.device_key } : { problem: problemOf(answer) };
}

/** @returns what went wrong, or null: this device is now that terminal. */
async function pair(code: string): Promise<string | null> {
  const found = await keyFor(code.trim());
  if ('problem' in found) return found.problem;
  const device = await createDeviceApi(found.key).device();
  if (device.is !== 'done') return problemOf(device);
  keepPairing({ key: found.key, terminal: device.value.id });
  return null;
}

/** The code in a link of the dashboard, or the code itself. */
function codeIn(text: string): string {
  const [, code] = /#(?:pair|key)=([^&\s]+)/.exec(text) ?? [];
  return decodeURIComponent(code ?? text);
}

export interface PairScreenProps {
  /** From a link; used at once. */
  readonly code: string | null;
  readonly onPaired: () => void;
}

/** Pairs with what is sent, and at once with what a link brought along. */
function usePairing({ code, onPaired }: PairScreenProps) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const started = useRef(false);
  const send = async (text: string) => {
    setBusy(true);
    const found = await pair(text);
    setBusy(false);
    setProblem(found);
    if (found === null) onPaired();
  };
  useEffect(() => {
    if (code === null || started.current) return;
    started.current = true;
    void send(code);
  });
  return { busy, problem, setProblem, send };
}

export function PairScreen(props: PairScreenProps): ReactNode {
  const [typed, setTyped] = useState(props.code ?? '');
  const [scanning, setScanning] = useState(false);
  const { busy, problem, setProblem, send } = usePairing(props);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed.trim() === '') setProblem('Enter the code that the dashboard shows.');
    else if (!busy) void send(typed);
  };
  return (
    <main className="sheet">
      <title>Pair this device · Tapline</title>
      <form className="stack" onSubmit={submit} noValidate>
        <img className="pair-logo" src="icons/tapline.svg" alt="" />
        <h1>Make this device a terminal</h1>
        <p className="soft">
          In the dashboard, open Terminals, choose one and ask for a pairing code. It works once,
          for ten minutes.
        </p>
        <TextField
          label="Pairing code"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          error={problem}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          placeholder="XXXX-XXXX"
          className="input pair-code"
        />
        <Button type="submit" kind="primary" large busy={busy}>
          Pair
        </Button>
        {hasCamera() ? <Button onClick={() => setScanning(true)}>Scan the code</Button> : null}
      </form>
      {scanning ? (
        <ScanDialog
          title="Scan the pairing code"
          onClose={() => setScanning(false)}
          onCode={(text) => {
            setScanning(false);
            setTyped(codeIn(text));
            void send(codeIn(text));
          }}
        />
      ) : null}
    </main>
  );
}
