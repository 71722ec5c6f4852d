import { useEffect, useState } from 'react';
import { isReachable } from '../data/api.ts';

/** How soon a connection is noticed that the browser has not noticed. */
const ASK_EVERY_MS = 3_000;

/** Whether the service can be reached, as far as is known without a request that failed. */
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
