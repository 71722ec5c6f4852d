import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from 'react';
import { t } from './text/t.ts';

/**
 * The time for which a toast is shown: enough to read two lines. Important messages never appear
 * only here.
 */
const SHOWN_MS = 6_000;

interface Toast {
  readonly id: number;
  readonly text: string;
}

const Toasts = createContext<(text: string) => void>(() => {});

export function useToast(): (text: string) => void {
  return useContext(Toasts);
}

export function ToastProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const next = useRef(0);
  const show = useCallback((text: string) => {
    const id = next.current++;
    setToasts((all) => [...all, { id, text }]);
    setTimeout(() => setToasts((all) => all.filter((toast) => toast.id !== id)), SHOWN_MS);
  }, []);
  return (
    <Toasts value={show}>
      {children}
      <div className="toasts" role="log" aria-label={t('ui.notifications')}>
        {toasts.map(({ id, text }) => (
          <div key={id} className="toast">
            {text}
          </div>
        ))}
      </div>
    </Toasts>
  );
}
