import { type Server } from 'node:http';
/** Serves a function of requests with `node:http`; the caller listens. */
export declare function serverOf(handle: (request: Request) => Promise<Response>): Server;
