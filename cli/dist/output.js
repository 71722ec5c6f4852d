import { coloured, takesColours } from './colours.js';
export function createOutput(json) {
    const paint = takesColours(process.stdout) ? coloured : (words) => words;
    return {
        json,
        show: (object, words) => process.stdout.write(`${json ? JSON.stringify(object) : paint(words)}\n`),
        note: (words) => void process.stderr.write(`${words}\n`),
    };
}
