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
import './operator.css';
import { partOf } from '../ui/lazy-part.ts';
import { Frame } from './frame.tsx';
import { ROUTES } from './pages.ts';

const people = createPeopleApi('operator');

/** Paths that users may guess. They redirect to the console's start page. */
const HOME = ['/operator/sign-in', '/operator/needs-you'];

function Pages(): ReactNode {
  return (
    <Switch>
      {ROUTES.map(([path, page]) => (
        <Route key={path} path={path} component={page} />
      ))}
      {HOME.map((path) => (
        <Route key={path} path={path}>
          <Redirect to="/operator" replace />
        </Route>
      ))}
      <Route>
        <Page title="Not found">
          <EmptyState drawing={<EmptyDrawing name="search" />} title="Page not found">
            Choose a page from the navigation.
          </EmptyState>
        </Page>
      </Route>
    </Switch>
  );
}

const ResetPassword = partOf(
  async () => (await import('../desk/email-link-pages.tsx')).ResetPassword,
);

/** Links below the sign-in form. */
function OtherWays(): ReactNode {
  return (
    <p>
      <Link href="/operator/reset-password">Forgot your password?</Link>
    </p>
  );
}

mount(
  <QueryClientProvider client={createQueryClient()}>
    <Router base={rootPath()}>
      <Switch>
        <Route path="/operator/reset-password">
          <ResetPassword people={people} back="/operator" />
        </Route>
        <Route>
          <DeskGate people={people} brand="Operator" otherWays={<OtherWays />}>
            <Frame>
              <Pages />
            </Frame>
          </DeskGate>
        </Route>
      </Switch>
    </Router>
  </QueryClientProvider>,
);
