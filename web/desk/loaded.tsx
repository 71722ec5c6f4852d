import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiFailure } from '../data/api.ts';
import { Button } from '../ui/button.tsx';
import { EmptyDrawing } from '../ui/empty-drawing.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Notice } from '../ui/notice.tsx';
import { Skeleton, type SkeletonShape } from '../ui/skeleton.tsx';
import { t } from '../ui/text/t.ts';
import { wordsOf } from './error-texts.ts';

export interface LoadedProps<Value> {
  readonly query: UseQueryResult<Value>;
  /** Shown if the object does not exist; explains where it may be instead. */
  readonly missing?: ReactNode;
  /** The placeholder while loading. */
  readonly shape?: SkeletonShape;
  readonly children: (value: Value) => ReactNode;
}

function isMissing(error: Error): boolean {
  return (
    error instanceof ApiFailure &&
    error.answer.is === 'refused' &&
    error.answer.error.code === 'resource_missing'
  );
}

export function Loaded<Value>(props: LoadedProps<Value>): ReactNode {
  const { query, missing, shape = 'lines', children } = props;
  const { data, error, isFetching, refetch } = query;
  if (data !== undefined) {
    return (
      <>
        {error === null ? null : <Stale error={error} onRetry={() => void refetch()} />}
        {children(data)}
      </>
    );
  }
  if (error === null) return <Skeleton shape={shape} />;
  if (isMissing(error)) {
    return (
      <EmptyState drawing={<EmptyDrawing name="search" />} title={t('desk.loaded.missing.heading')}>
        {missing ?? t('desk.loaded.missing.text')}
      </EmptyState>
    );
  }
  return (
    <Notice tone="bad" role="alert">
      <p>{error instanceof ApiFailure ? wordsOfRead(error) : error.message}</p>
      <div>
        <Button busy={isFetching} onClick={() => void refetch()}>
          {t('desk.button.try_again')}
        </Button>
      </div>
    </Notice>
  );
}

function wordsOfRead({ answer, message }: ApiFailure): string {
  return answer.is === 'refused' ? wordsOf(answer) : message;
}

interface StaleProps {
  readonly error: Error;
  readonly onRetry: () => void;
}

function Stale({ error, onRetry }: StaleProps): ReactNode {
  return (
    <Notice tone="warn" role="status">
      <p>{t('desk.loaded.stale', { message: error.message })}</p>
      <div>
        <Button onClick={onRetry}>{t('desk.button.try_again')}</Button>
      </div>
    </Notice>
  );
}
