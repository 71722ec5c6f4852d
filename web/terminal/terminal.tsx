import { type ReactNode, useEffect, useState } from 'react';
import { keepApp } from '../data/cache-app-on-device.ts';
import { Button } from '../ui/button.tsx';
import { firstPartOf, partOf } from '../ui/lazy-part.ts';
import { t } from '../ui/text/t.ts';
import { replacePlace } from './page-path.ts';
import { hasPairing, keptPairing, loadPairing, type Pairing } from './till-storage.ts';
import { WORDS } from './till-words.ts';

/**
 * Both screens load on demand, because a device shows only one of them: pairing takes a minute, a
 * shift takes hours.
 */
const PairScreen = partOf(async () => (await import('./screens/pair.tsx')).PairScreen);
const Shift = firstPartOf(async () => (await import('./screens/shift.tsx')).Shift);
/** The window that faces the customer. */
const DisplayScreen = partOf(async () => (await import('./screens/display.tsx')).DisplayScreen);
const IS_DISPLAY = new URLSearchParams(location.search).has('display');
// Starts loading before the first render. A part that fails to load is fetched again when it is
// shown.
(IS_DISPLAY ? DisplayScreen : hasPairing() ? Shift : PairScreen).load().catch(() => {});

/**
 * True if the URL asks a test till to start its shift automatically. A live till starts its shift
 * with a click.
 */
let startsShift = false;

/** Takes the code from the URL fragment of a link or QR code, which no server ever sees. */
function takeCode(): string | null {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const code = parameters.get('pair') ?? parameters.get('key');
  if (parameters.has('start')) startsShift = true;
  // Removes the code from the address bar, so that it cannot be photographed or bookmarked.
  if (location.hash !== '') replacePlace('');
  return code;
}

type Hold = 'asking' | 'mine' | 'elsewhere';

/**
 * Lets only one window take payments; the others show that another window is in use. The Web Locks
 * API needs a secure page.
 */
function useOnlyWindow(): readonly [Hold, () => void] {
  const [hold, setHold] = useState<Hold>('asking');
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (navigator.locks === undefined) return setHold('mine');
    const end = new AbortController();
    const keep = (lock: Lock | null) => {
      setHold(lock === null ? 'elsewhere' : 'mine');
      if (lock === null) return;
      return new Promise<void>((resolve) => end.signal.addEventListener('abort', () => resolve()));
    };
    const how = attempt === 0 ? { ifAvailable: true } : { steal: true };
    // Rejects when another window takes over the lock.
    navigator.locks.request('tapline till', how, keep).catch(() => setHold('elsewhere'));
    return () => end.abort();
  }, [attempt]);
  return [hold, () => setAttempt((count) => count + 1)];
}

/** Interval at which a storage that does not answer is tried again. */
const STORAGE_AGAIN_MS = 2_000;

/**
 * Loads the encrypted pairing; `undefined` until it is read, `stuck` while the browser's storage
 * does not answer.
 */
function usePairing() {
  const [pairing, setPairing] = useState<Pairing | null | undefined | 'stuck'>(undefined);
  useEffect(() => {
    // The app's root never unmounts, so nothing is undone.
    const load = () =>
      loadPairing().then(setPairing, () => {
        setPairing('stuck');
        setTimeout(load, STORAGE_AGAIN_MS);
      });
    void load();
  }, []);
  return [pairing, setPairing] as const;
}

/** The app's root. The customer display has no lock, no code and no key. */
export function Terminal(): ReactNode {
  return IS_DISPLAY ? <DisplayScreen /> : <Till />;
}

function Till(): ReactNode {
  const [code, setCode] = useState(takeCode);
  const [pairing, setPairing] = usePairing();
  const [wantsPairing, setWantsPairing] = useState(code !== null);
  const [hasNewVersion, setHasNewVersion] = useState(false);
  const [hold, takeOver] = useOnlyWindow();
  useEffect(() => {
    void keepApp('terminal', () => setHasNewVersion(true));
  }, []);
  if (hold === 'asking' || pairing === undefined) return null;
  if (hold === 'elsewhere') {
    return (
      <main className="sheet stack">
        <h1>{t(WORDS.elsewhere)}</h1>
        <p>{t(WORDS.elsewhereHint)}</p>
        <Button kind="primary" large onClick={takeOver}>
          {t('till.elsewhere_button')}
        </Button>
      </main>
    );
  }
  const onPairAgain = () => setWantsPairing(true);
  if (pairing === null || pairing === 'stuck' || wantsPairing) {
    return (
      <PairScreen
        code={code}
        pairing={pairing === 'stuck' ? null : pairing}
        isStuck={pairing === 'stuck' && !wantsPairing}
        onPairAgain={onPairAgain}
        onPaired={() => {
          setCode(null);
          setPairing(keptPairing());
          setWantsPairing(false);
        }}
        onBack={() => {
          setCode(null);
          setWantsPairing(false);
        }}
      />
    );
  }
  return (
    <Shift
      key={pairing.key}
      pairing={pairing}
      hasNewVersion={hasNewVersion}
      startsShift={startsShift}
      onPairAgain={onPairAgain}
    />
  );
}
