/** The destination of the audit logs' heads, out of reach of the database's owner. */
export type AnchorTarget =
  | { readonly to: 'operators' }
  | { readonly to: 'mail'; readonly address: string }
  | { readonly to: 'url'; readonly url: string }
  | { readonly to: 'file'; readonly path: string };
