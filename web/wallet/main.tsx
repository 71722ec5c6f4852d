import { QueryClientProvider } from '@tanstack/react-query';
import { Router } from 'wouter';
import { createQueryClient } from '../data/query-client.ts';
import { rootPath } from '../data/root-path.ts';
import { mount } from '../ui/mount.tsx';
import { Wallet } from './wallet.tsx';
import './wallet.css';

mount(
  <QueryClientProvider client={createQueryClient()}>
    <Router base={rootPath()}>
      <Wallet />
    </Router>
  </QueryClientProvider>,
);
