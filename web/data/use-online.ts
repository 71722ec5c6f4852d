import { useEffect, useState } from 'react';
import { isReachable } from './api.ts';

/** Polling interval, for a connection that returns without the browser reporting it. */
const ASK_EVERY_MS = 3_000;

/** Tracks whether the service is reachable. Assumes that it is until a check fails. */
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
