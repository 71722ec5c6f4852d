import { useEffect, useState } from 'react';
import { isReachable } from './api.ts';

/** Polling interval that detects a returning connection that the browser did not report. */
const ASK_EVERY_MS = 3_000;

/** True if the service is reachable, as far as is known without a failed request. */
export function useOnline(): boolean {
  const [online, setOnline] = useState(true);
  useEffect(() => {
    let isCurrent = true;
    const ask = async () => {
      const reached = await isReachable();
      if (isCurrent) setOnline(reached);
    };
    const timer = setInterval(() => {
      if (!navigator.onLine) void ask();
    }, ASK_EVERY_MS);
    void ask();
    window.addEventListener('online', ask);
    window.addEventListener('offline', ask);
    return () => {
      isCurrent = false;
      clearInterval(timer);
      window.removeEventListener('online', ask);
      window.removeEventListener('offline', ask);
    };
  }, []);
  return online;
}
