/**
 * What is used of the official SDK of the Model Context Protocol. `npm run build` puts the SDK
 * itself in the place of this file, so the package needs nothing else.
 */
export {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  hostHeaderValidationResponse,
  inputRequired,
  inputResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  McpServer,
  originValidationResponse,
  type ServerContext,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server';
export { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
