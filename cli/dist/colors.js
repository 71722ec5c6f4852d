const GREEN = 32;
const YELLOW = 33;
const RED = 31;
const DIM = 2;
const RULES = [
    [DIM, /^\d{4}-\d\d-\d\dT[\d:.]+Z/gm],
    [
        RED,
        /(?<=\s)[45]\d\d(?=\s(?!ms)|$)|\b(?:[a-z_]+\.)?(?:payment_)?(?:failed|declined|disputed)\b/g,
    ],
    [GREEN, /(?<=\s)2\d\d(?=\s(?!ms)|$)|\b(?:[a-z_]+\.)?succeeded\b/g],
    [YELLOW, /\b(?:processing|pending|requires_[a-z_]+)\b/g],
];
function color(code, text) {
    return `\u001b[${code}m${text}\u001b[0m`;
}
export function colored(words) {
    return RULES.reduce((text, [code, rule]) => text.replace(rule, (it) => color(code, it)), words);
}
export function inRed(words) {
    return color(RED, words);
}
export function takesColors(stream) {
    const { NO_COLOR, FORCE_COLOR } = process.env;
    if (NO_COLOR)
        return false;
    if (FORCE_COLOR !== undefined)
        return !['', '0', 'false'].includes(FORCE_COLOR);
    return stream.isTTY === true && stream.hasColors();
}
