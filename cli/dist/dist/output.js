export function createOutput(json) {
    return {
        json,
        show: (object, words) => process.stdout.write(`${json ? JSON.stringify(object) : words}\n`),
        note: (words) => void process.stderr.write(`${words}\n`),
    };
}
