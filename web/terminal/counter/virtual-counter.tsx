import {
  type PointerEvent,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from 'react';
import type { TestPasses } from '../../data/types/device.ts';
import type { Read } from '../reader/read-credential.ts';
import { readNfc } from '../reader/read-nfc.ts';
import { type Counter as Lying, NAMES, type Name, PIN, thingOf } from './counter-items.ts';
import { driverOf, Field, type Thing } from './virtual-nfc-field.ts';
import './virtual-counter.css';
import { type TextKey, t } from '../../ui/text/t.ts';

export interface CounterProps {
  readonly passes: TestPasses['passes'];
  readonly tag: string | null;
  readonly onRead: (read: Read) => void;
}

/**
 * The time for which an item that was dropped or clicked stays in the field: long enough for a chip
 * to sign.
 */
const HELD_MS = 2_500;
/** Distance in pixels below which a movement counts as a click. */
const DRAG_PX = 6;

const WORDS: Readonly<Record<Name, { readonly label: TextKey; readonly hint: TextKey }>> = {
  phone: { label: 'till.counter.phone', hint: 'till.counter.phone_hint' },
  card: { label: 'till.counter.card', hint: 'till.counter.card_hint' },
  pin: { label: 'till.counter.pin', hint: 'till.counter.pin_hint' },
  tag: { label: 'till.counter.tag', hint: 'till.counter.tag_hint' },
  bank: { label: 'till.counter.bank', hint: 'till.counter.bank_hint' },
};

function isOver(element: Element | null, { clientX, clientY }: PointerEvent): boolean {
  const box = element?.getBoundingClientRect();
  if (box === undefined) return false;
  const isAcross = clientX >= box.left && clientX <= box.right;
  return isAcross && clientY >= box.top && clientY <= box.bottom;
}

interface Hand {
  readonly held: Name | null;
  readonly failed: boolean;
  put(name: Name): void;
  take(): void;
}

/** Simulates one hand, which holds at most one item in the field. */
function useHand(field: Field, lying: Lying): Hand {
  const [held, setHeld] = useState<Name | null>(null);
  const [failed, setFailed] = useState(false);
  const inHand = useRef<{ readonly thing: Promise<Thing> } | null>(null);
  const timer = useRef(0);
  const take = () => {
    const before = inHand.current;
    inHand.current = null;
    clearTimeout(timer.current);
    setHeld(null);
    void before?.thing.then((thing) => field.take(thing)).catch(() => {});
  };
  const put = (name: Name) => {
    take();
    const now = { thing: thingOf(name, lying) };
    inHand.current = now;
    setHeld(name);
    setFailed(false);
    const hold = (thing: Thing) => {
      if (inHand.current !== now) return;
      timer.current = window.setTimeout(take, HELD_MS);
      field.hold(thing);
    };
    now.thing.then(hold).catch(() => {
      if (inHand.current !== now) return;
      take();
      setFailed(true);
    });
  };
  const leave = useEffectEvent(take);
  useEffect(() => () => leave(), []);
  return { held, failed, put, take };
}

interface ThingProps {
  readonly name: Name;
  readonly hand: Hand;
  /** Returns the element that represents the till's antenna. */
  readonly pad: () => Element | null;
  /** Called when the item is dropped elsewhere. */
  readonly onDropped: (event: PointerEvent) => void;
}

function LooseThing({ name, hand, pad, onDropped }: ThingProps): ReactNode {
  const from = useRef<{ readonly x: number; readonly y: number } | null>(null);
  const dragged = useRef(false);
  const move = (event: PointerEvent<HTMLButtonElement>) => {
    if (from.current === null) return;
    const [x, y] = [event.clientX - from.current.x, event.clientY - from.current.y];
    if (Math.hypot(x, y) > DRAG_PX) dragged.current = true;
    if (!dragged.current) return;
    event.currentTarget.style.translate = `${x}px ${y}px`;
    const over = isOver(pad(), event);
    if (over && hand.held !== name) hand.put(name);
    if (!over && hand.held === name) hand.take();
  };
  const end = (event: PointerEvent<HTMLButtonElement>) => {
    from.current = null;
    event.currentTarget.style.translate = '';
    if (dragged.current && hand.held !== name) onDropped(event);
  };
  const { label, hint } = WORDS[name];
  return (
    <button
      type="button"
      className={`thing thing-${name}${hand.held === name ? ' is-held' : ''}`}
      aria-pressed={hand.held === name}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, y: event.clientY };
        dragged.current = false;
      }}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={end}
      onClick={({ detail }) => {
        // Keyboard clicks have the `detail` 0 and are never the end of a drag.
        if (detail === 0 || !dragged.current) hand.put(name);
      }}
    >
      <span className="thing-body" aria-hidden="true" />
      <span>{t(label)}</span>
      <span className="soft small">{t(hint, { pin: PIN })}</span>
    </button>
  );
}

/**
 * A virtual counter for trying the till: items that customers hold up, as bytes that the real
 * readers' code decodes.
 */
export function Counter({ passes, tag, onRead }: CounterProps): ReactNode {
  const [field] = useState(() => new Field());
  const read = useEffectEvent(onRead);
  useEffect(() => {
    const end = new AbortController();
    void readNfc((one) => read(one), end.signal, driverOf(field));
    return () => end.abort();
  }, [field]);
  const hand = useHand(field, { pass: passes[0]?.credential ?? '', tag });
  const pad = useRef<HTMLDivElement>(null);
  const things = useRef<HTMLDivElement>(null);
  return (
    <section className="counter" aria-labelledby="counter">
      <h2 id="counter">{t('till.counter.heading')}</h2>
      <p className="soft small">{t('till.counter.text')}</p>
      <div className="things" ref={things}>
        {NAMES.filter((name) => name !== 'tag' || tag !== null).map((name) => (
          <LooseThing
            key={name}
            name={name}
            hand={hand}
            pad={() => pad.current}
            onDropped={(event) => {
              const sticker = things.current?.querySelector('.thing-tag') ?? null;
              const opens = name === 'phone' && tag !== null && isOver(sticker, event);
              if (opens) window.open(tag, '_blank', 'noopener');
            }}
          />
        ))}
      </div>
      <div ref={pad} className={hand.held === null ? 'pad' : 'pad is-held'}>
        {hand.held === null ? t('till.counter.till') : t('till.counter.held')}
      </div>
      {hand.failed ? <p role="alert">{t('till.counter.problem.no_money')}</p> : null}
    </section>
  );
}
