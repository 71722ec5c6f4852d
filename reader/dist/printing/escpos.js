const ESC = 0x1b;
const GS = 0x1d;
const RESET = [ESC, 0x40];
/** Table 19 of the printer's characters. */
const WESTERN = [ESC, 0x74, 19];
const CENTRED = [ESC, 0x61, 1];
const LEFT = [ESC, 0x61, 0];
/** Three lines up, so that the knife is below the text; then the cut that leaves a point. */
const CUT = [ESC, 0x64, 3, GS, 0x56, 1];
/** The first of two connectors, 50 ms on, 500 ms off. */
const PULSE = [ESC, 0x70, 0, 25, 250];
const NEW_LINE = 0x0a;
const UNKNOWN = 0x3f;
/** Characters in one QR code. A receipt's address has about 60. */
const LONGEST_ADDRESS = 300;
const DOT_SIZE = 6;
const CORRECTION_M = 49;
/** Code page 858, from 0x80 on: what Western Europe prints, with the euro. */
const CODE_PAGE = 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐' +
    '└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈ€ÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0';
/** What code pages leave out, in words that they have. */
const PLAIN = {
    '–': '-',
    '—': '-',
    '−': '-',
    '‘': "'",
    '’': "'",
    '“': '"',
    '”': '"',
    '…': '...',
    '\u202f': ' ',
};
/** The whole ticket, cut off. */
export function ticketBytes({ text, address }) {
    const code = address === null ? [] : [...CENTRED, ...qrBytes(address), NEW_LINE, ...LEFT];
    return Uint8Array.from([...RESET, ...WESTERN, ...textBytes(text), NEW_LINE, ...code, ...CUT]);
}
/** Opens the drawer that is plugged into the printer. */
export function drawerBytes() {
    return Uint8Array.from([...RESET, ...PULSE]);
}
/** Names come from people: no character of theirs may reach the printer as a command. */
function textBytes(text) {
    const bytes = [];
    for (const character of text.normalize('NFC').replaceAll('\r', '')) {
        for (const one of PLAIN[character] ?? character)
            bytes.push(byteOf(one));
    }
    return bytes;
}
function byteOf(character) {
    const code = character.codePointAt(0) ?? UNKNOWN;
    if (code === NEW_LINE || (code >= 0x20 && code < 0x7f))
        return code;
    const place = CODE_PAGE.indexOf(character);
    return place === -1 ? UNKNOWN : 0x80 + place;
}
function qrBytes(address) {
    const data = [...new TextEncoder().encode(address)];
    if (data.length > LONGEST_ADDRESS)
        throw new RangeError('an address that is too long to print');
    const command = (...parameters) => [
        ...[GS, 0x28, 0x6b, parameters.length & 0xff, parameters.length >> 8],
        ...parameters,
    ];
    return [
        ...command(49, 65, 50, 0),
        ...command(49, 67, DOT_SIZE),
        ...command(49, 69, CORRECTION_M),
        ...command(49, 80, 48, ...data),
        ...command(49, 81, 48),
    ];
}
