import '../ui/ui.css';
import { QueryClientProvider } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, Redirect, Route, Router, Switch } from 'wouter';
import { createPeopleApi } from '../data/people-api.ts';
import { createQueryClient } from '../data/query-client.ts';
import { rootPath } from '../data/root-path.ts';
import { DeskGate } from '../desk/sign-in-gate.tsx';
import { EmptyDrawing } from '../ui/empty-drawing.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { mount } from '../ui/mount.tsx';
import { Page } from '../ui/shell.tsx';
import './dashboard.css';
import { partOf } from '../ui/lazy-part.ts';
import { t } from '../ui/text/t.ts';
import { MerchantPlace } from './chosen-account.tsx';
import { Frame } from './frame.tsx';
import { ROUTES } from './pages.ts';

const people = createPeopleApi('dashboard');

function Pages(): ReactNode {
  return (
    <Switch>
      {ROUTES.map(([path, page]) => (
        <Route key={path} path={path} component={page} />
      ))}
      <Route path="/dashboard/sign-in">
        <Redirect to="/dashboard" replace />
      </Route>
      {/* Its address in earlier releases. */}
      <Route path="/dashboard/catalog">
        <Redirect to="/dashboard/catalogue" replace />
      </Route>
      <Route>
        <Page title={t('dashboard.not_found.page')}>
          <EmptyState
            drawing={<EmptyDrawing name="search" />}
            title={t('dashboard.not_found.heading')}
          >
            {t('dashboard.not_found.text')}
          </EmptyState>
        </Page>
      </Route>
    </Switch>
  );
}

const SignUp = partOf(async () => (await import('./pages/signed-out.tsx')).SignUp);
const ResetPassword = partOf(
  async () => (await import('../desk/email-link-pages.tsx')).ResetPassword,
);
const Invitation = partOf(async () => (await import('./pages/signed-out.tsx')).Invitation);

function OtherWays(): ReactNode {
  return (
    <p className="row row-apart">
      <Link href="/dashboard/reset-password">{t('dashboard.forgot_password')}</Link>
      <Link href="/dashboard/sign-up">{t('dashboard.button.open_an_account')}</Link>
    </p>
  );
}

function Inside(): ReactNode {
  return (
    <DeskGate people={people} brand={t('dashboard.brand')} otherWays={<OtherWays />}>
      <MerchantPlace>
        <Frame>
          <Pages />
        </Frame>
      </MerchantPlace>
    </DeskGate>
  );
}

mount(
  <QueryClientProvider client={createQueryClient()}>
    <Router base={rootPath()}>
      <Switch>
        <Route path="/dashboard/sign-up">
          <SignUp people={people} />
        </Route>
        <Route path="/dashboard/reset-password">
          <ResetPassword people={people} back="/dashboard" />
        </Route>
        <Route path="/dashboard/invitation">
          <Invitation people={people} />
        </Route>
        <Route>
          <Inside />
        </Route>
      </Switch>
    </Router>
  </QueryClientProvider>,
);
