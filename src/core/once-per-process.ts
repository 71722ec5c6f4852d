/**
 * Returns a function that creates an object the first time it is called with a context, and then
 * returns the same object for that context. This way, batchers and long-poll registries exist once
 * per process, and the use case that needs one owns it. A copied context counts as another process,
 * so only the composition root and tests may copy one.
 */
export function perProcess<Context extends object, Part>(
  create: (ctx: Context) => Part,
): (ctx: Context) => Part {
  const parts = new WeakMap<Context, Part>();
  return (ctx) => {
    const known = parts.get(ctx);
    if (known !== undefined) return known;
    const part = create(ctx);
    parts.set(ctx, part);
    return part;
  };
}
