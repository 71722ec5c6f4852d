import type { ReactNode } from 'react';
import { storedNow } from '../../desk/concurrent-change.tsx';
import type { Sending } from '../../desk/use-send.ts';
import { Choice } from '../../ui/choice.tsx';
import { TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { FAMILIES, familyOf } from './event-types.ts';

export interface EndpointDraft {
  readonly url: string;
  /** `*` alone, or families and exact types. */
  readonly events: readonly string[];
  readonly description: string;
}

export const ENDPOINT_FIELDS = ['url', 'enabled_events', 'description'];

export function endpointBody({ url, events, description }: EndpointDraft) {
  const words = description.trim();
  return {
    url: url.trim(),
    enabled_events: [...events],
    description: words === '' ? null : words,
  };
}

export interface EndpointFieldsProps {
  readonly draft: EndpointDraft;
  readonly onChange: (draft: EndpointDraft) => void;
  readonly sending: Sending;
  /** The values that a colleague has stored since the form was opened. */
  readonly storedMeanwhile?: EndpointDraft | null;
}

export function EndpointFields(props: EndpointFieldsProps): ReactNode {
  const { draft, onChange, sending, storedMeanwhile: now = null } = props;
  const isStale = now !== null;
  const stored = (is: string | undefined, typed: string) =>
    storedNow({ isStale, stored: is ?? '', typed });
  return (
    <>
      <TextField
        label={t('dashboard.endpoint_fields.address.label')}
        type="url"
        value={draft.url}
        onChange={(event) => onChange({ ...draft, url: event.target.value })}
        hint={stored(now?.url, draft.url) ?? t('dashboard.endpoint.address_hint')}
        error={sending.problemAt('url')}
      />
      <EventChoices draft={draft} onChange={onChange} sending={sending} />
      {now === null || now.events.join() === draft.events.join() ? null : (
        <p className="field-hint">
          {t('desk.stored_now.value', { stored: now.events.join(', ') })}
        </p>
      )}
      <TextField
        label={t('dashboard.endpoint_fields.note.label')}
        value={draft.description}
        onChange={(event) => onChange({ ...draft, description: event.target.value })}
        hint={stored(now?.description, draft.description) ?? t('dashboard.endpoint.note_hint')}
        error={sending.problemAt('description')}
      />
    </>
  );
}

/** Describes when a family's events are sent. Exact types have no description. */
function familyWords(name: string): string {
  const family = familyOf(name);
  return family === null ? '' : t(`dashboard.event_family.${family}`);
}

function EventChoices({
  draft,
  onChange,
  sending,
}: Omit<EndpointFieldsProps, 'storedMeanwhile'>): ReactNode {
  const error = sending.problemAt('enabled_events');
  const all = draft.events.includes('*');
  // Also lists exact types that were set through the API, so that they stay selected.
  const choices = [
    ...FAMILIES.map((family) => `${family}.*`),
    ...draft.events.filter((one) => one !== '*' && familyOf(one) === null),
  ];
  const toggle = (name: string, isOn: boolean) => {
    const rest = draft.events.filter((one) => one !== name && one !== '*');
    onChange({ ...draft, events: isOn ? [...rest, name] : rest });
  };
  return (
    <fieldset className="field">
      <legend>{t('dashboard.page.events')}</legend>
      <Choice
        name="events"
        type="checkbox"
        value="*"
        label={t('dashboard.endpoint.all_events')}
        checked={all}
        onChange={(isOn) => onChange({ ...draft, events: isOn ? ['*'] : [] })}
      />
      {all
        ? null
        : choices.map((name) => (
            <Choice
              key={name}
              name="events"
              type="checkbox"
              value={name}
              label={
                <>
                  {familyWords(name)} <span className="id soft">{name}</span>
                </>
              }
              checked={draft.events.includes(name)}
              onChange={(isOn) => toggle(name, isOn)}
            />
          ))}
      {error === null ? null : (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
