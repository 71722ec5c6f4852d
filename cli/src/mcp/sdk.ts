/**
 * The parts of the official MCP SDK that we use. `npm run build` replaces this file with a bundle
 * of the SDK, so that the package has no dependencies.
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
