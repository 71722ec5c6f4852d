/**
 * Returns a function that creates a part of a process at its first use, and then returns the same
 * part for the same context: batchers and long-poll registries exist once per process, and the use
 * case that needs one owns it. A copied context is another process, so only the composition root
 * and tests copy one.
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
