import { type ReactNode, useCallback, useEffect, useState } from 'react';
import type { Answer } from '../../data/api.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';

interface Loaded<T> {
  /** `null` while loading. */
  readonly value: T | null;
  readonly failed: boolean;
  readonly reload: () => void;
}

/**
 * Loads what a screen shows, and loads it again when the connection returns.
 * @param load Must stay the same function until something else is to be loaded.
 */
export function useLoaded<T>(load: () => Promise<Answer<T>>, reached: boolean): Loaded<T> {
  const [value, setValue] = useState<T | null>(null);
  const [failed, setFailed] = useState(false);
  const [round, setRound] = useState(0);
  // The effect reads `round` and `reached` only so that their changes trigger another load.
  useEffect(() => {
    let isCurrent = round >= 0 && reached;
    void load().then((answer) => {
      if (!isCurrent) return;
      if (answer.is === 'done') setValue(answer.value);
      setFailed(answer.is !== 'done');
    });
    return () => {
      isCurrent = false;
    };
  }, [load, round, reached]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  return { value, failed, reload };
}

/** Shows that something could not be loaded, with a button that tries again. */
export function NotLoaded(props: {
  readonly words: string;
  readonly onRetry: () => void;
}): ReactNode {
  return (
    <Notice tone="warn" role="alert">
      <p>{props.words}</p>
      <Button onClick={props.onRetry}>{t('till.try_again')}</Button>
    </Notice>
  );
}
