export { openFacilitator } from './facilitator.js';
export { serverOf } from './node.js';
export { paywallOf } from './paywall.js';
export { routesOf } from './routes.js';
