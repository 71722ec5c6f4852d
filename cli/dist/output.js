import { colored, takesColors } from './colors.js';
export function createOutput(json) {
    const paint = takesColors(process.stdout) ? colored : (words) => words;
    return {
        json,
        show: (object, words) => process.stdout.write(`${json ? JSON.stringify(object) : paint(words)}\n`),
        note: (words) => void process.stderr.write(`${words}\n`),
    };
}
