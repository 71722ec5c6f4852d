export { type Facilitator, type FacilitatorOptions, openFacilitator } from './facilitator.ts';
export { type RouteOptions, type Routes, routesOf } from './facilitator-routes.ts';
export { serverOf } from './node-server.ts';
export type { SpendingLimits } from './payer.ts';
export type { Requirements, Settled, Verified } from './payment-requirements.ts';
export { type Offer, type Paid, type Paywall, type PaywallOptions, paywallOf } from './paywall.ts';
