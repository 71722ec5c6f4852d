import type { ReactNode } from 'react';
import { named } from '#core/isolates.ts';
import type { Sending } from '../../desk/send.ts';
import { storedNow } from '../../desk/stored-now.tsx';
import { Choice } from '../../ui/choice.tsx';
import { TextField } from '../../ui/field.tsx';
import { FAMILIES } from './event-types.ts';

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
  /** What a colleague has stored since the form was opened. */
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
        label="Address"
        type="url"
        value={draft.url}
        onChange={(event) => onChange({ ...draft, url: event.target.value })}
        hint={
          stored(now?.url, draft.url) ??
          'Where your server receives events, such as https://shop.example/tapline.'
        }
        error={sending.problemAt('url')}
      />
      <EventChoices draft={draft} onChange={onChange} sending={sending} />
      {now === null || now.events.join() === draft.events.join() ? null : (
        <p className="field-hint">Stored now: {named(now.events.join(', '))}</p>
      )}
      <TextField
        label="Note"
        value={draft.description}
        onChange={(event) => onChange({ ...draft, description: event.target.value })}
        hint={stored(now?.description, draft.description) ?? 'Optional, for your own use.'}
        error={sending.problemAt('description')}
      />
    </>
  );
}

function EventChoices({
  draft,
  onChange,
  sending,
}: Omit<EndpointFieldsProps, 'storedMeanwhile'>): ReactNode {
  const error = sending.problemAt('enabled_events');
  const all = draft.events.includes('*');
  // Exact types that were chosen over the API stay chosen.
  const families = [
    ...Object.keys(FAMILIES),
    ...draft.events.filter((one) => one !== '*' && FAMILIES[one] === undefined),
  ];
  const toggle = (name: string, isOn: boolean) => {
    const rest = draft.events.filter((one) => one !== name && one !== '*');
    onChange({ ...draft, events: isOn ? [...rest, name] : rest });
  };
  return (
    <fieldset className="field">
      <legend>Events</legend>
      <Choice
        name="events"
        type="checkbox"
        value="*"
        label="All events, including future types"
        checked={all}
        onChange={(isOn) => onChange({ ...draft, events: isOn ? ['*'] : [] })}
      />
      {all
        ? null
        : families.map((name) => (
            <Choice
              key={name}
              name="events"
              type="checkbox"
              value={name}
              label={
                <>
                  {FAMILIES[name] ?? ''} <span className="id soft">{name}</span>
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
