import { pause } from '../pause.js';
import { CardGone } from '../protocols/apdu.js';
import { readTap } from '../protocols/tap.js';
import { PcscError, PcscSession, UNRESPONSIVE } from './service.js';
/** A reader that was unplugged, or a machine that slept, is back within this time. */
const RETRY_MS = 1000;
/** Reads every card on every reader, once for each time that it comes, until `signal` ends it. */
export function watchReaders({ wallets, toSign, ...options }) {
    return watchCards({ ...options, converse: (card) => readTap(card, wallets(), toSign) });
}
/** Speaks to every card on every reader, once for each time that it comes. */
export async function watchCards(options) {
    let told = '';
    const tell = (event) => {
        const key = event.status === 'tapped' ? '' : JSON.stringify(event);
        if (key !== '' && key === told)
            return;
        if (key !== '')
            told = key;
        options.onEvent(event);
    };
    while (!options.signal.aborted) {
        await watchOnce(options, tell).catch(() => undefined);
        if (options.signal.aborted)
            return;
        tell({ status: 'no_reader' });
        await pause(RETRY_MS, options.signal);
    }
}
async function watchOnce(options, tell) {
    const session = await PcscSession.open(options.socket);
    const end = () => session.close();
    options.signal.addEventListener('abort', end, { once: true });
    try {
        let states = await session.readerStates();
        // A card that lay there before we came is not a tap.
        const seen = new Map(states.map((state) => [state.name, state.events]));
        for (;;) {
            const readers = states.map((state) => state.name);
            tell(readers.length === 0 ? { status: 'no_reader' } : { status: 'ready', readers });
            for (const state of states)
                await attend(state, { seen, options, tell });
            states = await session.nextChange(states);
        }
    }
    finally {
        options.signal.removeEventListener('abort', end);
        session.close();
    }
}
async function attend(state, { seen, options, tell }) {
    const isNew = seen.get(state.name) !== state.events;
    seen.set(state.name, state.events);
    if (!isNew || !state.cardPresent)
        return;
    const tap = await speakTo(state.name, options);
    tell({ status: 'tapped', reader: state.name, tap });
}
/** On a conversation of its own: a card that hangs must not stop us from seeing it leave. */
async function speakTo(reader, options) {
    const session = await PcscSession.open(options.socket);
    try {
        const card = await session.connect(reader);
        const tap = await options.converse(card.transceive);
        await card.end().catch(() => undefined);
        return tap;
    }
    catch (error) {
        if (error instanceof CardGone)
            return { status: 'gone' };
        if (error instanceof PcscError && error.code === UNRESPONSIVE)
            return { status: 'two_cards' };
        throw error;
    }
    finally {
        session.close();
    }
}
