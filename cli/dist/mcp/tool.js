export class ToolRefusal extends Error {
}
export function inputs(properties, required) {
    return { type: 'object', properties, required, additionalProperties: false };
}
export function holds(properties, optional = []) {
    const required = Object.keys(properties).filter((name) => !optional.includes(name));
    return { type: 'object', properties, required, additionalProperties: false };
}
export const TEXT = { type: 'string' };
export const MAYBE_TEXT = { type: ['string', 'null'] };
export const WHOLE = { type: 'integer' };
export const MAYBE_WHOLE = { type: ['integer', 'null'] };
export const YES_OR_NO = { type: 'boolean' };
export const OBJECT = { type: 'object' };
export const MAYBE_OBJECT = { type: ['object', 'null'] };
export function listOf(items) {
    return { type: 'array', items };
}
export function reads(title) {
    const none = { destructiveHint: false, openWorldHint: false };
    return { title, readOnlyHint: true, idempotentHint: true, ...none };
}
export function checkArguments(tool, given) {
    const { properties, required } = tool.inputSchema;
    const values = (given ?? {});
    for (const name of required) {
        if (values[name] === undefined)
            throw new ToolRefusal(`${name} is missing.`);
    }
    for (const [name, value] of Object.entries(values)) {
        const property = properties[name];
        if (property === undefined) {
            throw new ToolRefusal(`There is no ${name}: ${Object.keys(properties).join(', ')}.`);
        }
        const fits = typeof value === 'string' && new RegExp(property.pattern ?? '').test(value);
        if (!fits)
            throw new ToolRefusal(`${name} is not right: ${property.description}`);
    }
    return values;
}
